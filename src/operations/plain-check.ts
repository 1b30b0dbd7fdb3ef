/**
 * A quick check of requests, apart from the validator: most are valid, and one command that was typed costs 5 ms of processor
 * time less where the validator is not loaded to hear so. It knows the few keywords that requests are made of. What it
 * cannot vouch for, the validator judges, which also says what is wrong.
 */
import type { TSchema } from "typebox"

type Schema = Readonly<Record<string, unknown>>

/** A copy with the defaults of the fields that are absent. All defaults of requests stand at the top. */
export function withDefaults(schema: TSchema, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const value = { ...given }
  for (const [name, field] of Object.entries(propertiesOf(schema as Schema)))
    if (value[name] === undefined && "default" in field) value[name] = structuredClone(field["default"])
  return value
}

/** True: the value is valid. False says nothing. */
export function isPlainlyValid(schema: TSchema, value: unknown): boolean {
  return agrees(schema as Schema, value)
}

function isChoice(schema: Schema): boolean {
  return "anyOf" in schema || "const" in schema
}

const NOTES = new Set(["description", "default", "title", "examples"])

/** The type is looked at first, so that every other keyword meets a value that it is about. */
function agrees(schema: Schema, value: unknown): boolean {
  const isOfType = "type" in schema ? TYPES[String(schema["type"])]?.(value) === true : isChoice(schema)
  if (!isOfType) return false
  return Object.keys(schema).every((keyword) => {
    // What the maker of schemas notes for itself begins so.
    if (NOTES.has(keyword) || keyword.startsWith("~")) return true
    return KEYWORDS[keyword]?.(schema, value) === true
  })
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  number: Number.isFinite,
  integer: Number.isInteger,
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
}

type Keyword = (schema: Schema, value: unknown) => boolean

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: () => true,
  const: (schema, value) => value === schema["const"],
  anyOf: ({ anyOf }, value) => (anyOf as readonly Schema[]).some((each) => agrees(each, value)),
  // The validator counts what a reader sees as one character: a text of one unit or more has one of those.
  minLength: ({ minLength }, value) => Number(minLength) <= 1 && extentOf(value) >= Number(minLength),
  maxLength: ({ maxLength }, value) => extentOf(value) <= Number(maxLength),
  minimum: ({ minimum }, value) => Number(value) >= Number(minimum),
  maximum: ({ maximum }, value) => Number(value) <= Number(maximum),
  minItems: ({ minItems }, value) => extentOf(value) >= Number(minItems),
  maxItems: ({ maxItems }, value) => extentOf(value) <= Number(maxItems),
  items: ({ items }, value) => (value as readonly unknown[]).every((each) => agrees(items as Schema, each)),
  required: ({ required }, value) =>
    (required as readonly string[]).every((name) => Object.hasOwn(value as object, name)),
  properties: (schema, value) => areFieldsValid(propertiesOf(schema), value as object),
  additionalProperties: (schema, value) => {
    const known = propertiesOf(schema)
    return schema["additionalProperties"] === false && Object.keys(value as object).every((name) => name in known)
  },
}

function areFieldsValid(properties: Readonly<Record<string, Schema>>, value: object): boolean {
  return Object.entries(value).every(([name, field]) => {
    const known = properties[name]
    return known === undefined || agrees(known, field)
  })
}

function extentOf(value: unknown): number {
  return (value as string | readonly unknown[]).length
}

/** Without a prototype: a request may have a field called `constructor`. */
function propertiesOf({ properties }: Schema): Readonly<Record<string, Schema>> {
  return Object.assign(Object.create(null), properties)
}
