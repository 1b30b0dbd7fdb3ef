/**
 * An operation is one thing that pond can do, said once: its name, input, output, errors and work. HTTP routes, OpenAPI,
 * MCP tools, published schemas and the documents of the command line derive from it.
 *
 * An operation knows no transport: it gets a checked input and returns a value, or throws a `PondError` of its codes.
 * README.md beside this file says how to add one.
 */

import { type Static, type TSchema, Type } from "typebox"
import { type ErrorCode, PondError } from "../model/errors.ts"
import type { Pond } from "./pond.ts"
import { validateInput } from "./validation.ts"

export interface RunContext {
  readonly pond: Pond
  /** Aborted when the caller is gone or the time is over. */
  readonly signal: AbortSignal
}

/** Who can ask for an operation. A local one reads or writes this machine, so only its owner may, on the command line. */
export type Surfaces =
  | {
      readonly http: true
      /** The MCP tool, or the URI of the resource. Absent: no business of agents. */
      readonly mcp?: string
      /** The verb. Absent: no business of people. */
      readonly cli?: string
      /** Not answered by a server on a port that asks for no token: any program of the machine reaches that. */
      readonly needsToken?: true
    }
  | { readonly local: true; readonly cli: string }

export interface Operation<
  I extends TSchema = TSchema,
  O extends TSchema = TSchema,
  Hooks = unknown,
  Result = unknown,
> {
  /** snake_case; on HTTP the route is `/v1/<name>`. */
  readonly name: string
  /** One sentence for people. */
  readonly summary: string
  /** Every field has a description: help, flags and tools show it. */
  readonly input: I
  readonly output: O
  /** The codes it may fail with, besides those that every operation may: see `COMMON_ERRORS`. */
  readonly errors: readonly ErrorCode[]
  readonly surfaces: Surfaces
  /** Whether it leaves the store and the machine as they are. */
  readonly read: boolean
  /** `Hooks` are callbacks that a local caller may pass beside the input: progress, questions. */
  readonly run: (context: RunContext & Hooks, input: Static<I>) => Promise<Result>
}

/** What `run` may return: the output, which nobody changes. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T

export const COMMON_ERRORS: readonly ErrorCode[] = [
  "validation_failed",
  "version_unsupported",
  "namespace_unknown",
  "storage_unavailable",
  "internal",
]

/** Keeps the types of one operation while it is written. */
export function defineOperation<const I extends TSchema, const O extends TSchema>(
  operation: Operation<I, O, unknown, Static<O>>,
): Operation<I, O, unknown, Static<O>> {
  return operation
}

/** The same for one that only the command line asks for: its result has its own type, which the output describes. */
export function defineLocalOperation<
  const I extends TSchema,
  const O extends TSchema,
  Hooks,
  Result extends Frozen<Static<O>>,
>(operation: Operation<I, O, Hooks, Result>): Operation<I, O, Hooks, Result> {
  return operation
}

/** Closed objects: a field that nobody knows is a mistake of the caller, and is said. */
export function closedObject<const P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false })
}

/** Checks, then runs, here or in the process that serves the store. */
export async function perform<I extends TSchema, O extends TSchema, Hooks, Result>(
  operation: Operation<I, O, Hooks, Result>,
  context: RunContext & Hooks,
  given: unknown,
): Promise<Result> {
  return await performValid(operation, context, validateInput(operation.input, given, context.pond.host.lifetime))
}

/** The same with an input that was checked already, as part of the request that it came in. */
export async function performValid<I extends TSchema, O extends TSchema, Hooks, Result>(
  operation: Operation<I, O, Hooks, Result>,
  context: RunContext & Hooks,
  input: Static<I>,
): Promise<Result> {
  try {
    const answered = isLocal(operation) ? undefined : await context.pond.remote?.(operation, input, context.signal)
    return answered === undefined ? await operation.run(context, input) : (answered.value as Result)
  } catch (error) {
    throw context.signal.aborted && !(error instanceof PondError) ? stopped(context.signal, error) : error
  }
}

function isLocal({ surfaces }: Pick<Operation, "surfaces">): boolean {
  return "local" in surfaces
}

/** What work that is stopped throws is whatever the one who stopped it gave as a reason: no fault of pond's. */
function stopped({ reason }: AbortSignal, cause: unknown): PondError {
  const isLate = reason instanceof Error && reason.name === "TimeoutError"
  const what = isLate ? "The request timed out. Request less at once." : "The request was stopped."
  return new PondError("interrupted", what, { cause })
}
