/**
 * The kinds of flags. A flag says what it takes, what it means and how its text becomes a value; help, completions,
 * checks and types derive from it. It knows nothing of any verb.
 */
import { PondError } from "../model/errors.ts"
import { suggestion } from "../platform/nearest.ts"

/** Words that only a machine and its store know: completions ask pond for those that there are. */
export const WORD_KINDS = ["adapters", "sessions"] as const
export type WordKind = (typeof WORD_KINDS)[number]

export interface Flag<T> {
  readonly summary: string
  /** What stands for the value in help; undefined for a flag that takes none. */
  readonly hint: string | undefined
  /** One letter, for `-q`. */
  readonly short?: string
  readonly choices?: readonly string[]
  readonly words?: WordKind
  /** The field of the operation's input that it sets, where it derives from one. */
  readonly field?: string
  readonly isRepeatable: boolean
  /** `texts` holds one text per time the flag was given; `spelled` is how the user would write it. */
  readonly read: (texts: readonly string[], spelled: string) => T
}

export type Flags = Readonly<Record<string, Flag<unknown>>>

export type FlagValues<F extends Flags> = { readonly [Name in keyof F]: F[Name] extends Flag<infer T> ? T : never }

export const NO_FLAGS = {} satisfies Flags

interface Extras {
  /** Instead of the list of choices. */
  readonly hint?: string
  readonly short?: string
  readonly words?: WordKind
}

/** The last one given counts, as everywhere on a command line. */
function single<T>(
  summary: string,
  hint: string,
  extras: Extras,
  read: (text: string, spelled: string) => T,
): Flag<T | undefined> {
  return {
    summary,
    hint,
    isRepeatable: false,
    ...extras,
    read: (texts, spelled) => {
      const text = texts.at(-1)
      return text === undefined ? undefined : read(text, spelled)
    },
  }
}

function badValue(spelled: string, text: string, wanted: string): PondError {
  return new PondError("validation_failed", `${spelled} must be ${wanted}, not "${text}".`, {
    details: { flag: spelled, value: text },
  })
}

/** Other words for a choice. */
const CHOICE_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["agent", "client"],
  ["adapter", "client"],
  ["subagents", "subagent"],
  ["sub-agent", "subagent"],
])

function oneOf<const C extends string>(choices: readonly C[], text: string, spelled: string): C {
  const found = choices.find((choice) => choice === text || choice === CHOICE_SYNONYMS.get(text))
  if (found !== undefined) return found
  const wanted = `one of ${choices.join(", ")}`
  throw new PondError("validation_failed", `${spelled} must be ${wanted}, not "${text}".${suggestion(text, choices)}`, {
    details: { flag: spelled, value: text, choices },
  })
}

interface Bounds {
  readonly min?: number
  readonly max?: number
}

function isWithin(value: number, bounds: Bounds): boolean {
  return value >= (bounds.min ?? Number.NEGATIVE_INFINITY) && value <= (bounds.max ?? Number.POSITIVE_INFINITY)
}

function describeBounds({ min, max }: Bounds): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  if (min !== undefined) return ` of at least ${min}`
  return max === undefined ? "" : ` of at most ${max}`
}

export const DURATION_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
export type DurationUnit = keyof typeof DURATION_MS

/** What a date of a flag may look like. */
export const DATE_WORDS = '2026-01-31, 2026-01, "20 Jan", June, yesterday, "last week", 7d or 24h'

/** Without what must be given. */
export function missing(spelled: string, summary: string, details: Readonly<Record<string, string>>): PondError {
  const what = `${summary.slice(0, 1).toLowerCase()}${summary.slice(1)}`
  return new PondError("validation_failed", `Missing ${spelled}: ${what}`, { details })
}

export const flag = {
  /** There or not there. */
  onOff(summary: string, extras: Extras = {}): Flag<boolean> {
    return { summary, hint: undefined, isRepeatable: false, ...extras, read: (texts) => texts.length > 0 }
  },

  text(summary: string, hint: string, extras: Extras = {}): Flag<string | undefined> {
    return single(summary, hint, extras, (text, spelled) => {
      if (text !== "") return text
      throw new PondError("validation_failed", `${spelled} needs a value: ${spelled} ${hint}.`, {
        details: { flag: spelled },
      })
    })
  },

  texts(summary: string, hint: string, extras: Extras = {}): Flag<readonly string[]> {
    return { summary, hint, isRepeatable: true, ...extras, read: (texts) => texts }
  },

  choice<const C extends string>(summary: string, choices: readonly C[], extras: Extras = {}): Flag<C | undefined> {
    const read = (text: string, spelled: string) => oneOf(choices, text, spelled)
    return { ...single(summary, choices.join("|"), extras, read), choices }
  },

  choices<const C extends string>(summary: string, choices: readonly C[], extras: Extras = {}): Flag<readonly C[]> {
    return {
      summary,
      hint: choices.join("|"),
      choices,
      isRepeatable: true,
      ...extras,
      read: (texts, spelled) => texts.map((text) => oneOf(choices, text, spelled)),
    }
  },

  wholeNumber(summary: string, bounds: Bounds = {}, extras: Extras = {}): Flag<number | undefined> {
    return single(summary, "N", extras, (text, spelled) => {
      const value = Number(text)
      if (/^-?\d+$/.test(text) && Number.isSafeInteger(value) && isWithin(value, bounds)) return value
      throw badValue(spelled, text, `a whole number${describeBounds(bounds)}`)
    })
  },

  decimal(summary: string, bounds: Bounds = {}, extras: Extras = {}): Flag<number | undefined> {
    return single(summary, "X", extras, (text, spelled) => {
      const value = Number(text)
      if (/^-?(\d+\.?\d*|\.\d+)$/.test(text) && isWithin(value, bounds)) return value
      throw badValue(spelled, text, `a number${describeBounds(bounds)}`)
    })
  },

  /** A length of time in milliseconds: `500ms`, `30s`, `5m`, `2h`, `7d`. */
  durationMs(summary: string, extras: Extras = {}): Flag<number | undefined> {
    return single(summary, "TIME", extras, (text, spelled) => {
      const [, count, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? []
      if (unit === undefined) throw badValue(spelled, text, "a time such as 500ms, 30s, 5m, 2h or 7d")
      return Math.round(Number(count) * DURATION_MS[unit as DurationUnit])
    })
  },
} as const

export const GLOBAL_FLAGS = {
  store: flag.text("The store to use: a directory or a storage URL.", "URL"),
  config: flag.text("The config file to read.", "FILE"),
  namespace: flag.text("The namespace in a shared store.", "NS"),
  json: flag.onOff("Print one JSON document."),
  quiet: flag.onOff("Print only the result.", { short: "q" }),
  verbose: flag.onOff("Print debug messages to stderr.", { short: "v" }),
  color: flag.choice("Use color: auto, always or never (default: auto).", ["auto", "always", "never"], {
    hint: "WHEN",
  }),
  "no-color": flag.onOff("Turn off color (same as --color=never and NO_COLOR)."),
  version: flag.onOff("Print the version.", { short: "V" }),
  help: flag.onOff("Show help.", { short: "h" }),
} satisfies Flags

export type GlobalValues = FlagValues<typeof GLOBAL_FLAGS>
