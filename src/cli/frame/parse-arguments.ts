/**
 * Reads the command line strictly. citty accepts any flag, drops repeats and reads a missing value as `true`, so a mistyped
 * `--limt` would silently mean no limit. Here every flag must be known and have its value; an unknown one is reported with
 * the nearest known one.
 */
import { parseArgs } from "node:util"
import { PondError } from "../../model/errors.ts"
import { nearest, suggestion } from "../../platform/nearest.ts"
import { type Flags, GLOBAL_FLAGS, missing } from "../flags.ts"
import { FLAG_HINTS, meaningOf, replaceFlagSynonyms, VERB_SYNONYMS } from "../synonyms.ts"
import type { Positional, VerbRow } from "../verb.ts"

export interface Route {
  readonly row: VerbRow
  /** The command line without the words of the verb. */
  readonly rest: readonly string[]
}

type Tokens = NonNullable<ReturnType<typeof tokensOf>>

/** Flags and words, in order; nothing is judged yet. */
function tokensOf(argv: readonly string[], flags: Flags) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { hint, short }]) => [
      name,
      {
        type: hint === undefined ? ("boolean" as const) : ("string" as const),
        multiple: true,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  )
  return parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true }).tokens
}

/** Which verb is meant. Undefined when the command line has no word at all. */
export function findVerb(argv: readonly string[], verbs: readonly VerbRow[]): Route | undefined {
  const tokens = tokensOf(argv, GLOBAL_FLAGS)
  const first = tokens.find((token) => token.kind === "positional")
  rejectUnknownFlags(
    tokens.filter((token) => first === undefined || token.index < first.index),
    GLOBAL_FLAGS,
  )
  if (first === undefined) return undefined
  const next = argv[first.index + 1] ?? ""
  for (const [name, length] of [
    [`${first.value} ${next}`, 2],
    [first.value, 1],
  ] as const) {
    const row = verbs.find((candidate) => candidate.name === name)
    if (row !== undefined) return { row, rest: argv.toSpliced(first.index, length) }
  }
  const synonym = verbsUnder(first.value, verbs).length > 0 ? undefined : meaningOf(VERB_SYNONYMS, first.value)
  const meant = verbs.find(({ name }) => name === synonym?.runs)
  if (meant !== undefined) return { row: meant, rest: argv.toSpliced(first.index, 1) }
  throw synonym?.hint === undefined
    ? unknownVerb(first.value, next, verbs)
    : new PondError("validation_failed", `Unknown verb "${first.value}". ${synonym.hint}`, {
        details: { verb: first.value, nearest: null },
      })
}

/** The verbs under one first word, such as `adapters`. */
export function verbsUnder(word: string, verbs: readonly VerbRow[]): readonly VerbRow[] {
  return verbs.filter(({ name }) => name.startsWith(`${word} `))
}

function unknownVerb(word: string, next: string, verbs: readonly VerbRow[]): PondError {
  const below = verbsUnder(word, verbs)
  const seconds = below.map(({ name }) => name.slice(word.length + 1))
  const wrong = below.length > 0 ? next : word
  const right = below.length > 0 ? seconds : [...new Set(verbs.map(({ name }) => name.split(" ")[0] ?? name))]
  const isMissing = below.length > 0 && (next === "" || next.startsWith("-"))
  const message = isMissing
    ? `pond ${word} needs one of: ${seconds.join(", ")}.`
    : `Unknown verb "${below.length > 0 ? `${word} ${next}` : word}".${suggestion(wrong, right)} Run pond --help.`
  return new PondError("validation_failed", message, {
    details: { verb: wrong, nearest: nearest(wrong, right) ?? null },
  })
}

function rejectUnknownFlags(tokens: Tokens, flags: Flags): void {
  for (const token of tokens) {
    if (token.kind !== "option" || Object.hasOwn(flags, token.name)) continue
    const names = Object.keys(flags)
    const near = nearest(token.name, names)
    const other = meaningOf(FLAG_HINTS, token.name)
    const hint = other === undefined ? suggestedFlag(near) : ` ${other}`
    throw new PondError("validation_failed", `Unknown flag ${token.rawName}.${hint}`, {
      details: { flag: token.rawName, nearest: near === undefined ? null : `--${near}` },
    })
  }
}

function suggestedFlag(name: string | undefined): string {
  return name === undefined ? "" : ` Did you mean --${name}?`
}

export interface Invocation {
  /** By flag name, for every flag there is: its value, or what its absence means. */
  readonly values: Readonly<Record<string, unknown>>
  readonly words: readonly string[]
}

/** The values of flags and words, each checked. */
export function readInvocation(argv: readonly string[], flags: Flags, positionals: readonly Positional[]): Invocation {
  const tokens = tokensOf(replaceFlagSynonyms(argv, flags), flags)
  rejectUnknownFlags(tokens, flags)
  const texts = new Map<string, string[]>()
  const spellings = new Map<string, string>()
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value)
    if (token.kind !== "option") continue
    const known = flags[token.name]
    if (known === undefined) continue
    const text = givenText(token, known.hint)
    texts.set(token.name, [...(texts.get(token.name) ?? []), text])
    spellings.set(token.name, token.rawName)
  }
  const values = Object.fromEntries(
    Object.entries(flags).map(([name, known]) => [
      name,
      known.read(texts.get(name) ?? [], spellings.get(name) ?? `--${name}`),
    ]),
  )
  return { values, words: checkWords(words, positionals) }
}

type OptionToken = Extract<Tokens[number], { kind: "option" }>

/** `--limit --json` is a forgotten value, not a value; `--limit=--json` says it outright, and `-1` is a number. */
function givenText(token: OptionToken, hint: string | undefined): string {
  const { rawName, value } = token
  if (hint === undefined) {
    if (value === undefined) return ""
    throw new PondError("validation_failed", `${rawName} takes no value.`, { details: { flag: rawName, value } })
  }
  const isForgotten = value === undefined || (token.inlineValue !== true && /^-[^\d.]/.test(value))
  if (!isForgotten) return value
  throw new PondError("validation_failed", `${rawName} needs a value: ${rawName} ${hint}.`, {
    details: { flag: rawName },
  })
}

function checkWords(words: readonly string[], positionals: readonly Positional[]): readonly string[] {
  const absent = positionals.find(({ count }, index) => count === "one" && words[index] === undefined)
  if (absent !== undefined) throw missing(absent.name.toUpperCase(), absent.summary, { argument: absent.name })
  const takesMany = positionals.some(({ count }) => count === "many")
  const extra = takesMany ? undefined : words[positionals.length]
  if (extra !== undefined) {
    const next = positionals.length === 0 ? "It takes flags only: see --help." : "Quote arguments that contain spaces."
    throw new PondError("validation_failed", `Unexpected argument "${extra}". ${next}`, {
      details: { argument: extra },
    })
  }
  for (const [index, word] of words.entries()) {
    const { choices, name, words: kind } = positionals[Math.min(index, positionals.length - 1)] ?? {}
    if (kind === "sessions" && word.trim() === "") throw emptyId(name ?? "id")
    if (choices === undefined || choices.includes(word)) continue
    const wanted = `${(name ?? "").toUpperCase()} must be one of ${choices.join(", ")}, not "${word}".`
    throw new PondError("validation_failed", `${wanted}${suggestion(word, choices)}`, {
      details: { argument: name, value: word, choices },
    })
  }
  return words
}

/** What a script passes whose variable was never set. */
function emptyId(name: string): PondError {
  return new PondError(
    "validation_failed",
    `${name.toUpperCase()} is empty. \`pond search\` prints the ids of sessions and messages.`,
    { details: { argument: name } },
  )
}
