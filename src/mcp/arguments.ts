/**
 * The arguments of a tool, derived from its operation's input: a tool picks fields, may give one a flat name, and words it
 * for agents. Types and bounds are the operation's own, so that the two cannot drift apart.
 */
import { type TSchema, Type } from "typebox"
import { buildInput, fieldAt, type InputField } from "../operations/input-field.ts"
import { closedObject } from "../operations/operation.ts"

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
