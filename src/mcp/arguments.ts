/**
 * The arguments of a tool, derived from its operation's input: a tool picks fields, may give one a flat name, and words it
 * for agents. Types and bounds are the operation's own, so that the two cannot drift apart.
 */
import { type Static, type TSchema, Type } from "typebox"
import { buildInput, fieldAt, type InputField } from "../operations/input-field.ts"
import { closedObject, type RunContext } from "../operations/operation.ts"
import { isRecord, validateInput } from "../operations/validation.ts"

interface Argument {
  readonly description: string
  /** Where the field stands in the input. Absent: under the argument's own name. */
  readonly field?: readonly string[]
  /** Fewer choices than the operation has, in the order in which agents see them. */
  readonly only?: readonly string[]
  readonly default?: unknown
}

/** By name; a text is the description alone. */
export type Arguments = Readonly<Record<string, string | Argument>>

type Json = Readonly<Record<string, unknown>>

/** The schema of a tool's arguments. */
export function argumentsOf(input: TSchema, given: Arguments) {
  const fields = Object.entries(given).map(([name, argument]) => {
    const { field = [name], ...own } = typeof argument === "string" ? { description: argument } : argument
    return [name, schemaOf(fieldAt(input, field), own)] as const
  })
  return closedObject(Object.fromEntries(fields))
}

/**
 * What an agent gave, checked. A number outside its bounds becomes the nearest bound, because a model that asks for 500
 * sessions wants many; null is an argument left out, as models write it. Anything else that is wrong is said.
 */
export function readArguments<I extends TSchema>(schema: I, given: unknown, { pond }: RunContext): Static<I> {
  return validateInput(schema, isRecord(given) ? clampNumbers(schema, given) : given, pond.host.lifetime)
}

interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
}

function clampNumbers(schema: TSchema, given: Json): Json {
  const { properties } = schema as { readonly properties?: Readonly<Record<string, Bounds>> }
  const bounds = new Map(Object.entries(properties ?? {}))
  const clamp = (name: string, value: unknown) => {
    if (typeof value !== "number") return value
    const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = bounds.get(name) ?? {}
    return Math.min(maximum, Math.max(minimum, value))
  }
  const set = Object.entries(given).filter(([, value]) => value !== null)
  return Object.fromEntries(set.map(([name, value]) => [name, clamp(name, value)]))
}

/** The operation's input from a tool's arguments. What an agent left out stays out. */
export function inputOf(given: Arguments, values: Json): Json {
  return buildInput(
    Object.entries(values).map(([name, value]) => {
      const argument = given[name]
      return [(typeof argument === "object" ? argument.field : undefined) ?? [name], value]
    }),
  )
}

/** As JSON, so that nothing of the operation's own schema is changed or shared. */
function schemaOf({ schema, isRequired }: InputField, { only, ...own }: Omit<Argument, "field">): TSchema {
  const copy = JSON.parse(JSON.stringify(schema)) as Json
  const { anyOf, ...rest } = copy as { readonly anyOf?: readonly { readonly const?: unknown }[] }
  const chosen = only?.map((each) => anyOf?.find((option) => option.const === each)) ?? anyOf
  const made = Type.Unsafe({ ...(chosen === undefined ? {} : { anyOf: chosen }), ...rest, ...own })
  return isRequired ? made : Type.Optional(made)
}
