/**
 * Fields of an operation's input by their path, for surfaces that give them flat names: the flags of a verb and the
 * arguments of a tool.
 */
import type { TSchema } from "typebox"

type Json = Readonly<Record<string, unknown>>

export interface InputField {
  readonly schema: Json
  readonly isRequired: boolean
}

export function fieldAt(input: TSchema, path: readonly string[]): InputField {
  let found: InputField = { schema: input as unknown as Json, isRequired: true }
  for (const key of path) {
    const { properties, required = [] } = found.schema as { properties?: Json; required?: readonly string[] }
    const schema = properties?.[key] as Json | undefined
    if (schema === undefined) throw new TypeError(`The operation takes no ${path.join(".")}.`)
    found = { schema, isRequired: found.isRequired && required.includes(key) }
  }
  return found
}

/** The input that has these values at these paths. */
export function buildInput(values: readonly (readonly [path: readonly string[], value: unknown])[]): Json {
  const input: Record<string, unknown> = {}
  for (const [path, value] of values) {
    let at = input
    for (const key of path.slice(0, -1)) {
      at[key] ??= {}
      at = at[key] as Record<string, unknown>
    }
    at[path.at(-1) ?? ""] = value
  }
  return input
}
