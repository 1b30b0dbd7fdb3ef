/**
 * What is wrong with a request, in words that say what would be right. The validator says the same thing several times:
 * once for each value that was allowed, and for each field that is not known once inside and once around it.
 */
import type { TSchema } from "typebox"

export interface Fault {
  /** A JSON pointer into the input. */
  readonly path: string
  readonly message: string
}

/** As the validator finds it. */
export interface Finding {
  readonly keyword: string
  /** A JSON pointer into the schema, behind a `#`. */
  readonly schemaPath: string
  readonly instancePath: string
  readonly params: object
  readonly message: string
}

const IN_OUR_WORDS: Readonly<Record<string, string>> = { "must not have fewer than 1 characters": "must not be empty" }

export function faultsOf(schema: TSchema, findings: readonly Finding[]): Fault[] {
  const faults = new Map<string, Fault>()
  for (const { keyword, schemaPath, instancePath: path, params, message } of findings) {
    // Said of each field by itself.
    if (keyword === "additionalProperties" && "additionalProperties" in params) continue
    const text = keyword === "boolean" ? unknownText(schema, schemaPath) : choiceText(findings, path)
    const fault = { path, message: text ?? IN_OUR_WORDS[message] ?? message }
    faults.set(`${fault.path} ${fault.message}`, fault)
  }
  return [...faults.values()]
}

/** Nothing where the field has no choices. */
function choiceText(findings: readonly Finding[], path: string): string | undefined {
  const own = findings.filter(({ instancePath }) => instancePath === path)
  const allowed = own.flatMap(({ params }) => ("allowedValue" in params ? [params.allowedValue] : []))
  return allowed.length < 2 ? undefined : `must be one of ${allowed.join(", ")}`
}

function unknownText(schema: TSchema, schemaPath: string): string {
  const holder = schemaAt(schema, schemaPath.replace(/\/additionalProperties$/, ""))
  const known = Object.keys((holder as { readonly properties?: object } | undefined)?.properties ?? {})
  return known.length === 0 ? "is not known" : `is not known; known are ${known.join(", ")}`
}

function schemaAt(schema: TSchema, pointer: string): unknown {
  const steps = pointer.split("/").slice(1)
  return steps.reduce<unknown>((at, step) => (at as Readonly<Record<string, unknown>> | undefined)?.[step], schema)
}
