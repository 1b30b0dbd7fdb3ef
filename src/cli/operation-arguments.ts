/**
 * Flags and words of a verb that derive from the input of its operation: the verb names the fields, and their kind, bounds,
 * default and description are the operation's own. So a flag, an argument of a tool and a field of a request cannot drift
 * apart. A flag of the verb's own stands among them, and is no field.
 */
import type { Static, TSchema } from "typebox"
import type { PondError } from "../model/errors.ts"
import { buildInput, fieldAt } from "../operations/input-field.ts"
import { parseMoment } from "../operations/wire/date-words.ts"
import type { Clock } from "../platform/host/clock.ts"
import { DURATION_MS, type DurationUnit, type Flag, flag, missing, type WordKind } from "./flags.ts"
import type { Positional } from "./verb.ts"

interface FieldFlag {
  /** Where the field stands in the input. Absent: under the flag's own name. */
  readonly field?: readonly string[]
  /** What stands for the value in help. */
  readonly hint?: string
  readonly short?: string
  readonly words?: WordKind
  /** Instead of the field's description. */
  readonly summary?: string
  /** Reads a day as people type it, and takes its first or its last moment. */
  readonly day?: "start" | "end"
  /** Reads a length of time such as 30s or 2h, and takes it in this unit. */
  readonly duration?: DurationUnit
  /** What the field is where people type something shorter. */
  readonly convert?: (value: string) => unknown
}

/** By the name of the flag. */
type FlagTable = Readonly<Record<string, FieldFlag | Flag<unknown>>>

interface FieldWord {
  readonly field: string
  /** Instead of the name of the field. */
  readonly name?: string
  readonly words?: WordKind
  /** The shell completes it as a path. */
  readonly isFile?: true
  /** Instead of the field's description. */
  readonly summary?: string
  readonly count?: Positional["count"]
}

type Snake<Name extends string> = Name extends `${infer Head}-${infer Tail}` ? `${Head}_${Snake<Tail>}` : Name
type PathOf<Name extends string, Each> = Each extends { readonly field: infer P extends readonly string[] }
  ? P
  : readonly [Snake<Name>]
type At<T, Path> = Path extends readonly [infer Key, ...infer Rest]
  ? Key extends keyof NonNullable<T>
    ? At<NonNullable<T>[Key], Rest>
    : never
  : NonNullable<T>
/** As it was typed; `inputOf` makes the field of it. */
type Typed<T, Each> = Each extends { readonly duration: DurationUnit }
  ? number | undefined
  : Each extends { readonly convert: unknown } | { readonly day: unknown }
    ? string | undefined
    : T extends readonly (infer Item)[]
      ? readonly Item[]
      : [T] extends [boolean]
        ? boolean
        : T | undefined
type FlagOf<Input, Name extends string, Each> =
  Each extends Flag<unknown> ? Each : Flag<Typed<At<Input, PathOf<Name, Each>>, Each>>

interface Given {
  readonly flags: Readonly<Record<string, unknown>>
  readonly words: readonly string[]
  readonly pond: { readonly host: { readonly clock: Clock } }
}

export interface OperationArguments<Flags> {
  readonly flags: Flags
  readonly positionals: readonly Positional[]
  /** The operation's input, with the fields whose flags and words were given. */
  readonly inputOf: (given: Given) => Readonly<Record<string, unknown>>
}

export function argumentsFor<I extends TSchema, const F extends FlagTable>(
  input: I,
  table: F,
  words: readonly FieldWord[] = [],
): OperationArguments<{ readonly [Name in keyof F]: FlagOf<Static<I>, Name & string, F[Name]> }> {
  const fields = Object.entries(table).filter((entry): entry is [string, FieldFlag] => !isOwn(entry[1]))
  const flags = Object.entries(table).map(([name, each]) => [name, isOwn(each) ? each : flagOf(input, name, each)])
  return {
    flags: Object.fromEntries(flags),
    positionals: words.flatMap((word) => positionalsOf(input, word)),
    inputOf: (given) => {
      const nowMs = given.pond.host.clock.nowMs()
      const named = fields.flatMap(([name, each]) => {
        const path = pathOf(name, each)
        const value = given.flags[name]
        if (!isAbsent(value)) return [[path, convertValue(`--${name}`, value, each, nowMs)] as const]
        if (fieldAt(input, path).isRequired && path.length === 1) throw missingFlag(name, flagOf(input, name, each))
        return []
      })
      return buildInput([...named, ...wordValues(input, words, given.words)])
    },
  }
}

function isOwn(each: FieldFlag | Flag<unknown>): each is Flag<unknown> {
  return "read" in each
}

function pathOf(name: string, { field }: FieldFlag): readonly string[] {
  return field ?? [name.replaceAll("-", "_")]
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === false || (Array.isArray(value) && value.length === 0)
}

function missingFlag(name: string, { short, hint = "", summary }: Flag<unknown>): PondError {
  const spelled = `${short === undefined ? `--${name}` : `-${short}`} ${hint}`
  return missing(spelled, summary, { flag: spelled })
}

function convertValue(spelled: string, value: unknown, { day, duration, convert }: FieldFlag, nowMs: number): unknown {
  if (day !== undefined) return parseMoment({ flag: spelled, text: String(value), edge: day }, nowMs)
  if (duration !== undefined) return Number(value) / DURATION_MS[duration]
  return convert === undefined ? value : convert(String(value))
}

// --- Flags ------------------------------------------------------------------------------------------------------------

/** As much of a JSON Schema as fields of inputs have. */
interface FieldSchema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly { readonly const?: unknown }[]
  readonly items?: FieldSchema
}

function flagOf(input: TSchema, name: string, each: FieldFlag): Flag<unknown> {
  const path = pathOf(name, each)
  const schema: FieldSchema = fieldAt(input, path).schema
  return { ...flagOfSchema(schema, each), field: path.join(".") }
}

function flagOfSchema(schema: FieldSchema, { hint, short, words, duration, ...each }: FieldFlag): Flag<unknown> {
  const { summary = summaryOf(schema, duration ?? "") } = each
  const { type, anyOf, minimum, maximum, items } = schema
  const extras = {
    ...(short === undefined ? {} : { short }),
    ...(words === undefined ? {} : { words }),
    ...(hint === undefined ? {} : { hint }),
  }
  const bounds = {
    ...(minimum === undefined ? {} : { min: minimum }),
    ...(maximum === undefined ? {} : { max: maximum }),
  }
  if (duration !== undefined) return flag.durationMs(summary, extras)
  if (type === "boolean") return flag.onOff(summary, extras)
  if (type === "integer") return flag.wholeNumber(summary, bounds, extras)
  if (type === "number") return flag.decimal(summary, bounds, extras)
  if (anyOf !== undefined) return flag.choice(summary, choicesOf(anyOf), extras)
  if (items?.anyOf !== undefined) return flag.choices(summary, choicesOf(items.anyOf), extras)
  if (type === "array") return flag.texts(summary, hint ?? "TEXT", extras)
  return flag.text(summary, hint ?? "TEXT", extras)
}

function choicesOf(anyOf: NonNullable<FieldSchema["anyOf"]>): readonly string[] {
  return anyOf.map((each) => String(each.const))
}

/** The description, with the default where it does not say one itself. */
function summaryOf({ description = "", default: preset }: FieldSchema, unit = ""): string {
  const isSaid = preset === undefined || preset === false || Array.isArray(preset) || description.includes("(default: ")
  return isSaid ? description : `${description.replace(/\.$/, "")} (default: ${preset}${unit}).`
}

// --- Words ------------------------------------------------------------------------------------------------------------

/** A list that must not be empty takes one word, and then any number. */
function positionalsOf(
  input: TSchema,
  { field, name = field, words, isFile, count, ...word }: FieldWord,
): Positional[] {
  const { schema, isRequired } = fieldAt(input, [field])
  const { type }: FieldSchema = schema
  const { summary = summaryOf(schema) } = word
  const own = count ?? (isRequired ? "one" : "optional")
  const kind = { ...(words === undefined ? {} : { words }), ...(isFile === undefined ? {} : { isFile }) }
  const first = { name, summary, field, ...kind }
  if (type !== "array") return [{ ...first, count: own }]
  const many: Positional = { ...first, count: "many" }
  return isRequired ? [{ ...first, count: "one" }, many] : [many]
}

function wordValues(input: TSchema, words: readonly FieldWord[], given: readonly string[]) {
  return words.flatMap(({ field }, index) => {
    const { type }: FieldSchema = fieldAt(input, [field]).schema
    const value = type === "array" ? given.slice(index) : given[index]
    return isAbsent(value) ? [] : [[[field], value] as const]
  })
}
