/**
 * A thing that pond can do is said once: its name, what it takes, what it answers, how it fails, how it is done.
 * The routes of HTTP, the tools of MCP, the published schemas and the documents of the command line derive from it.
 * An operation knows no transport: it gets a checked input and returns a value, or throws a `PondError` of its codes.
 */

import { type Static, type TSchema, Type } from "typebox"
import { Value } from "typebox/value"
import { type ErrorCode, PondError } from "../model/errors.ts"
import type { Lifetime } from "../platform/host/host.ts"
import { faultsOf } from "./faults.ts"
import type { Pond } from "./pond.ts"

export interface RunContext {
  readonly pond: Pond
  /** Aborted when whoever asked is gone, or the time is over. */
  readonly signal: AbortSignal
}

export interface Operation<I extends TSchema = TSchema, O extends TSchema = TSchema> {
  /** snake_case; the route is `/v1/<name>`. */
  readonly name: string
  /** One sentence for people. */
  readonly summary: string
  readonly input: I
  readonly output: O
  /** The codes it may fail with, besides those that every operation may: see `COMMON_ERRORS`. */
  readonly errors: readonly ErrorCode[]
  readonly run: (context: RunContext, input: Static<I>) => Promise<Static<O>>
}

export const COMMON_ERRORS: readonly ErrorCode[] = [
  "validation_failed",
  "version_unsupported",
  "namespace_unknown",
  "storage_unavailable",
  "internal",
]

/** Keeps the types of one operation while it is written. */
export function defineOperation<const I extends TSchema, const O extends TSchema>(
  operation: Operation<I, O>,
): Operation<I, O> {
  return operation
}

/** Closed objects: a field that nobody knows is a mistake of the caller, and is said. */
export function closedObject<const P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false })
}

const FAULTS_MAX = 20

interface Validator {
  Check(value: unknown): boolean
  Errors(value: unknown): ReturnType<typeof Value.Errors>
}

const compiled = new WeakMap<TSchema, Validator>()

/** A server compiles each schema once. A command interprets the one it needs, and starts 8 ms earlier without the compiler. */
function validatorOf(schema: TSchema, lifetime: Lifetime): Validator {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  if (lifetime === "command") {
    return { Check: (value) => Value.Check(schema, value), Errors: (value) => Value.Errors(schema, value) }
  }
  const { Compile } = require("typebox/compile") as { readonly Compile: (schema: TSchema) => Validator }
  const validator = Compile(schema)
  compiled.set(schema, validator)
  return validator
}

/** The input with its defaults, or `validation_failed` with the path of each fault. The given value is not changed. */
export function validateInput<I extends TSchema>(schema: I, given: unknown, lifetime: Lifetime = "command"): Static<I> {
  const validator = validatorOf(schema, lifetime)
  // Defaults are set in place, and all of them stand at the top: what was given is not changed, and large bodies are not copied.
  const input = Value.Default(schema, isRecord(given) ? { ...given } : given)
  if (validator.Check(input)) return input as Static<I>
  const faults = faultsOf(schema, [...validator.Errors(input)]).slice(0, FAULTS_MAX)
  const [first] = faults
  throw new PondError(
    "validation_failed",
    `The request is not right at ${first?.path || "its top"}: ${first?.message ?? "it has another shape"}.`,
    {
      details: { faults },
    },
  )
}

/** Checks, then runs, here or in the process that serves the store: what every surface calls. */
export async function perform<I extends TSchema, O extends TSchema>(
  operation: Operation<I, O>,
  context: RunContext,
  given: unknown,
): Promise<Static<O>> {
  const input = validateInput(operation.input, given, context.pond.host.lifetime)
  try {
    const answered = await context.pond.remote?.(operation.name, input, context.signal)
    return answered === undefined ? await operation.run(context, input) : (answered.value as Static<O>)
  } catch (error) {
    throw context.signal.aborted && !(error instanceof PondError) ? stopped(context.signal, error) : error
  }
}

/** What work that is stopped throws is whatever the one who stopped it gave as a reason: no fault of pond's. */
function stopped({ reason }: AbortSignal, cause: unknown): PondError {
  const isLate = reason instanceof Error && reason.name === "TimeoutError"
  const what = isLate ? "The request took too long and was stopped. Ask for less at once." : "The request was stopped."
  return new PondError("interrupted", what, { cause })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
