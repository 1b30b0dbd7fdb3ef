/** Help, for people and (`--help --json`) for programs; all of it derived from the registry and the verbs. */
import { type Flags, GLOBAL_FLAGS } from "../flags.ts"
import type { Style } from "../render/style.ts"
import { wrapToWidth } from "../render/table.ts"
import { GROUPS, type Positional, type Verb, type VerbRow } from "../verb.ts"
import { TOPICS } from "./topics.ts"

const MEANING_WIDTH_MIN = 20
/** Where a verb is explained, the global flags are one line. */
const GLOBAL_NAMES = "--store, --config, --namespace, --json, -q, -v, --color, -h"
export const TAGLINE = "pond stores every conversation with your coding agents and searches them."

export interface HelpLayout {
  readonly style: Style
  readonly columns: number
}

/** The verbs by group; `verbs` may be those under one word only. */
export function renderOverview(verbs: readonly VerbRow[], layout: HelpLayout): string {
  const { style } = layout
  const lines = [`${TAGLINE}\n\n`, `${style.bold("Usage")}  pond <verb> [flags]\n`]
  for (const [group, title] of Object.entries(GROUPS)) {
    const rows = verbs
      .filter((row) => row.group === group)
      .map(({ name, summary }): [string, string] => [`  ${name}`, summary])
    if (rows.length > 0) lines.push(`\n${style.bold(title)}\n`, pairs(rows, layout))
  }
  lines.push(`\n${style.bold("Global flags")}\n`, pairs(flagRows(GLOBAL_FLAGS), layout))
  const topics = TOPICS.map(({ name, summary }): [string, string] => [`  ${name}`, summary])
  lines.push(`\n${style.bold("Topics")}\n`, pairs(topics, layout))
  lines.push(`\nRun pond <verb> --help for the flags of a verb, pond help <topic> to read about a topic.\n`)
  return lines.join("")
}

export function renderVerbHelp(row: VerbRow, verb: Verb, layout: HelpLayout): string {
  const { style } = layout
  const words = shownPositionals(verb)
  const spelled = words.map(({ spelling }) => ` ${spelling}`).join("")
  const lines = [`${row.summary}\n\n`, `${style.bold("Usage")}  pond ${row.name}${spelled} [flags]\n`]
  if (words.length > 0) {
    const rows = words.map(({ name, summary }): [string, string] => [`  ${name}`, summary])
    lines.push("\n", pairs(rows, layout))
  }
  if (Object.keys(verb.flags).length > 0) lines.push(`\n${style.bold("Flags")}\n`, pairs(flagRows(verb.flags), layout))
  lines.push(`\n${style.bold("Global flags")}  ${GLOBAL_NAMES} (see pond --help)\n`)
  if (verb.examples.length > 0) {
    lines.push(`\n${style.bold("Examples")}\n`, ...verb.examples.map((example) => `  pond ${example}\n`))
  }
  return lines.join("")
}

export function overviewDocument(verbs: readonly VerbRow[]): Readonly<Record<string, unknown>> {
  return {
    verbs: verbs.map(({ name, group, summary }) => ({ name, group: GROUPS[group], summary })),
    flags: flagDocuments(GLOBAL_FLAGS),
    topics: TOPICS.map(({ name, summary }) => ({ name, summary })),
  }
}

export function verbDocument(row: VerbRow, verb: Verb): Readonly<Record<string, unknown>> {
  const { examples, flags } = verb
  const positionals = verb.positionals.map(({ field: _, isFile: __, ...shown }) => shown)
  return {
    name: row.name,
    group: GROUPS[row.group],
    summary: row.summary,
    positionals,
    flags: flagDocuments(flags),
    examples,
  }
}

function flagDocuments(flags: Flags) {
  return Object.entries(flags).map(([name, { summary, hint, short, choices, isRepeatable }]) => ({
    name: `--${name}`,
    ...(short === undefined ? {} : { short: `-${short}` }),
    ...(hint === undefined ? {} : { value: hint }),
    ...(choices === undefined ? {} : { choices }),
    repeatable: isRepeatable,
    summary,
  }))
}

function flagRows(flags: Flags): [word: string, meaning: string][] {
  return Object.entries(flags).map(([name, { summary, hint, short, isRepeatable }]) => {
    const shortened = short === undefined ? "" : `-${short}, `
    const value = hint === undefined ? "" : ` ${hint}`
    return [`  ${shortened}--${name}${value}`, isRepeatable ? `${summary} Repeatable.` : summary]
  })
}

interface ShownPositional {
  readonly name: string
  readonly spelling: string
  readonly summary: string
}

/** A word that may be followed by more of its kind is one line: `PROJECT…`. */
export function shownPositionals({ positionals }: Verb): readonly ShownPositional[] {
  return positionals.flatMap((each, index): ShownPositional[] => {
    if (each.name === positionals[index - 1]?.name) return []
    const name = each.name.toUpperCase()
    const spelling = positionals[index + 1]?.name === each.name ? `${name}…` : spell(name, each.count)
    return [{ name, spelling, summary: each.summary }]
  })
}

function spell(name: string, count: Positional["count"]): string {
  if (count === "one") return name
  return count === "many" ? `[${name}…]` : `[${name}]`
}

/** A word and what it means, the meaning wrapped under itself: help is never cut. */
function pairs(rows: readonly (readonly [word: string, meaning: string])[], { columns }: HelpLayout): string {
  const indent = Math.max(...rows.map(([word]) => Bun.stringWidth(word))) + 2
  const width = Math.max(MEANING_WIDTH_MIN, columns - indent)
  return rows
    .map(([word, meaning]) => {
      const lines = wrapToWidth(meaning, width).join(`\n${" ".repeat(indent)}`)
      return `${word}${" ".repeat(indent - Bun.stringWidth(word))}${lines}\n`
    })
    .join("")
}
