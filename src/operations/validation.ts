/**
 * Checks a value against a schema, and says what is wrong in words that say what would be right. The validator reports one
 * mistake several times (once for each choice that a value is not); here it is one fault with its path.
 */
import type { Static, TSchema } from "typebox"
import type * as TypeboxValue from "typebox/value"
import { PondError } from "../model/errors.ts"
import type { Lifetime } from "../platform/host/host.ts"
import { isPlainlyValid, withDefaults } from "./plain-check.ts"

const FAULTS_MAX = 20

interface Validator {
  Check(value: unknown): boolean
  Errors(value: unknown): ReturnType<typeof TypeboxValue.Value.Errors>
}

const compiled = new WeakMap<TSchema, Validator>()

/** A server compiles each schema once. A command interprets the one it needs, where a quick look at the value is not enough. */
function validatorOf(schema: TSchema, lifetime: Lifetime): Validator {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  if (lifetime === "command") {
    const { Value } = require("typebox/value") as typeof TypeboxValue
    return {
      Check: (value) => Value.Check(schema, value),
      Errors: (value) => Value.Errors(schema, value),
    }
  }
  const { Compile } = require("typebox/compile") as { readonly Compile: (schema: TSchema) => Validator }
  const validator = Compile(schema)
  compiled.set(schema, validator)
  return validator
}

export type Checked = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly faults: Fault[] }

/** The value with its defaults, or its faults. The given value is not changed. */
export function checkValue(schema: TSchema, given: unknown, lifetime: Lifetime): Checked {
  return checkWhole(schema, isRecord(given) ? withDefaults(schema, given) : given, lifetime)
}

/** The same for a value that has everything it needs, such as an answer: to look for defaults in it costs more than the check. */
export function checkWhole(schema: TSchema, value: unknown, lifetime: Lifetime): Checked {
  if (lifetime === "command" && isPlainlyValid(schema, value)) return { ok: true, value }
  const validator = validatorOf(schema, lifetime)
  if (validator.Check(value)) return { ok: true, value }
  return { ok: false, faults: faultsOf(schema, [...validator.Errors(value)]).slice(0, FAULTS_MAX) }
}

/** The input with its defaults, or `validation_failed` with the path of each fault. */
export function validateInput<I extends TSchema>(schema: I, given: unknown, lifetime: Lifetime = "command"): Static<I> {
  const checked = checkValue(schema, given, lifetime)
  if (checked.ok) return checked.value as Static<I>
  throw invalidRequest(checked.faults)
}

export function invalidRequest(faults: readonly Fault[]): PondError {
  const [first] = faults
  const text = `Invalid request at ${first?.path || "its top level"}: ${first?.message ?? "unexpected structure"}.`
  return new PondError("validation_failed", text, { details: { faults } })
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

// --- Faults -----------------------------------------------------------------------------------------------------------

export interface Fault {
  /** A JSON pointer into the input. */
  readonly path: string
  readonly message: string
}

/** As the validator finds it. */
interface Finding {
  readonly keyword: string
  /** A JSON pointer into the schema, behind a `#`. */
  readonly schemaPath: string
  readonly instancePath: string
  readonly params: object
  readonly message: string
}

const IN_OUR_WORDS: Readonly<Record<string, string>> = { "must not have fewer than 1 characters": "must not be empty" }

function faultsOf(schema: TSchema, findings: readonly Finding[]): Fault[] {
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
