/** `pond man`: the manual page in roff, made from the same tables as the help. */

import { ERROR_TABLE } from "../../model/errors.ts"
import { VERSION } from "../../platform/host/version.ts"
import { type Flags, GLOBAL_FLAGS, NO_FLAGS } from "../flags.ts"
import { shownPositionals, TAGLINE } from "../help/render-help.ts"
import { TOPICS } from "../help/topics.ts"
import { defineVerb, type Verb, type VerbRow } from "../verb.ts"

export const man = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["man | man -l -", "man > ~/.local/share/man/man1/pond.1"],
  run: async ({ verbs }) => {
    const loaded = await Promise.all(verbs.map(async (row) => ({ row, verb: await row.load() })))
    const text = renderManual(loaded)
    return { document: { name: "pond.1", text }, render: () => text }
  },
})

// --- The manual page -------------------------------------------------------------------------------------------------

// The manual page `pond(1)` in roff: every verb with its flags and examples, and the help topics.

interface LoadedVerb {
  readonly row: VerbRow
  readonly verb: Verb
}

function renderManual(verbs: readonly LoadedVerb[]): string {
  const codes = Object.entries(ERROR_TABLE).map(([code, { exit }]) => item(String(exit), code))
  return [
    `.TH POND 1 "" "pond ${VERSION}" "User Commands"\n`,
    `.SH NAME\npond \\- ${escapeRoff(TAGLINE)}\n`,
    ".SH SYNOPSIS\n.B pond\n.I verb\n[flags]\n",
    ".SH GLOBAL FLAGS\n",
    flagItems(GLOBAL_FLAGS),
    ".SH VERBS\n",
    ...verbs.map(verbText),
    ...TOPICS.map(({ name, text }) => `.SH ${name.toUpperCase()}\n.nf\n${escapeRoff(text.trimEnd())}\n.fi\n`),
    `.SH EXIT STATUS\n${item("0", "done")}${item("4", "done, with problems")}${codes.join("")}`,
  ].join("")
}

function verbText({ row, verb }: LoadedVerb): string {
  const shown = shownPositionals(verb)
  const words = shown.map(({ spelling }) => ` ${spelling}`).join("")
  const positionals = shown.map(({ name, summary }) => item(name, summary)).join("")
  const examples = verb.examples.map((example) => `${escapeRoff(`    pond ${example}`)}\n`).join("")
  const head = `.SS "pond ${row.name}${words}"\n${escapeRoff(row.summary)}\n`
  return `${head}${positionals}${flagItems(verb.flags)}.PP\nExamples:\n.nf\n${examples}.fi\n`
}

function flagItems(flags: Flags): string {
  return Object.entries(flags)
    .map(([name, { summary, hint, short }]) =>
      item(`${short === undefined ? "" : `-${short}, `}--${name}${hint === undefined ? "" : ` ${hint}`}`, summary),
    )
    .join("")
}

function item(term: string, meaning: string): string {
  return `.TP\n.B ${escapeRoff(term)}\n${escapeRoff(meaning)}\n`
}

/** A backslash, a hyphen, and a line that begins with a dot or an apostrophe mean something in roff. */
function escapeRoff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/gm, "\\&")
}
