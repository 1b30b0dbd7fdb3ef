/**
 * Flags that derive from the input of an operation: a verb names the fields, and their kind, bounds, default and
 * description are the operation's own. So a flag, an argument of a tool and a field of a request cannot drift apart.
 */
import type { TSchema } from "typebox"
import { buildInput, fieldAt } from "../operations/input-field.ts"
import { parseMoment } from "../operations/wire/date-words.ts"
import { type Flag, type Flags, flag, type WordKind } from "./flags.ts"

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
  /** What the field is where people type something shorter. */
  readonly convert?: (value: unknown) => unknown
}

/** By the name of the flag. */
export type FieldFlags = Readonly<Record<string, FieldFlag>>

export interface OperationFlags<Names extends string> {
  readonly flags: { readonly [Name in Names]: Flag<unknown> }
  /** The operation's input, with the fields whose flags were given. */
  readonly inputOf: (values: Readonly<Record<string, unknown>>, nowMs: number) => Readonly<Record<string, unknown>>
}

export function flagsOf<const F extends FieldFlags>(input: TSchema, fields: F): OperationFlags<keyof F & string> {
  const entries = Object.entries<FieldFlag>(fields)
  const made = entries.map(([name, each]) => [name, flagOf(fieldAt(input, pathOf(name, each)).schema, each)] as const)
  return {
    flags: Object.fromEntries(made) as OperationFlags<keyof F & string>["flags"] & Flags,
    inputOf: (values, nowMs) =>
      buildInput(
        entries.flatMap(([name, each]) => {
          const value = values[name]
          if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) return []
          return [[pathOf(name, each), convertValue(`--${name}`, value, each, nowMs)] as const]
        }),
      ),
  }
}

function pathOf(name: string, { field }: FieldFlag): readonly string[] {
  return field ?? [name.replaceAll("-", "_")]
}

function convertValue(spelled: string, value: unknown, { day, convert }: FieldFlag, nowMs: number): unknown {
  if (day !== undefined) return parseMoment({ flag: spelled, text: String(value), edge: day }, nowMs)
  return convert === undefined ? value : convert(value)
}

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

function flagOf(schema: FieldSchema, { hint, short, words, summary = summaryOf(schema) }: FieldFlag): Flag<unknown> {
  const extras = { ...(short === undefined ? {} : { short }), ...(words === undefined ? {} : { words }) }
  const { type, anyOf, minimum, maximum, items } = schema
  const bounds = {
    ...(minimum === undefined ? {} : { min: minimum }),
    ...(maximum === undefined ? {} : { max: maximum }),
  }
  if (type === "boolean") return flag.onOff(summary, extras)
  if (type === "integer") return flag.wholeNumber(summary, bounds, extras)
  if (type === "number") return flag.decimal(summary, bounds, extras)
  if (anyOf !== undefined) return flag.choice(summary, choicesOf(anyOf), { ...extras, ...(hint ? { hint } : {}) })
  if (items?.anyOf !== undefined) return flag.choices(summary, choicesOf(items.anyOf), extras)
  if (type === "array") return flag.texts(summary, hint ?? "TEXT", extras)
  return flag.text(summary, hint ?? "TEXT", extras)
}

function choicesOf(anyOf: NonNullable<FieldSchema["anyOf"]>): readonly string[] {
  return anyOf.map((each) => String(each.const))
}

/** The description, with the default where it does not say one itself. */
function summaryOf({ description = "", default: preset }: FieldSchema): string {
  const isSaid = preset === undefined || preset === false || description.includes("(default: ")
  return isSaid ? description : `${description.replace(/\.$/, "")} (default: ${preset}).`
}
