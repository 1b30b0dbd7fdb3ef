/**
 * The closed table of errors: what pond can fail with, and what each surface says when it does.
 * Every surface (HTTP, MCP, command line) maps through this table and no other. `test/surface/errors.test.ts` pins it.
 * Bad foreign data is not here: it is a value (`Issue`, `Loss`), never an error.
 */

export interface ErrorRow {
  /** The HTTP status. */
  readonly http: number
  /** The exit code of the process. */
  readonly exit: number
  /** The JSON-RPC error code of the MCP surface. */
  readonly rpc: number
  /** Whether the same request can succeed when it is sent again. Conveyed by the code on the wire. */
  readonly retryable: boolean
}

export const ERROR_TABLE = {
  validation_failed: { http: 400, exit: 2, rpc: -32010, retryable: false },
  version_unsupported: { http: 400, exit: 2, rpc: -32011, retryable: false },
  not_found: { http: 404, exit: 3, rpc: -32012, retryable: false },
  namespace_unknown: { http: 403, exit: 7, rpc: -32013, retryable: false },
  unauthorized: { http: 401, exit: 7, rpc: -32019, retryable: false },
  storage_unavailable: { http: 503, exit: 5, rpc: -32014, retryable: true },
  conflict: { http: 409, exit: 6, rpc: -32015, retryable: true },
  would_overwrite: { http: 409, exit: 8, rpc: -32017, retryable: false },
  interrupted: { http: 503, exit: 130, rpc: -32018, retryable: true },
  internal: { http: 500, exit: 1, rpc: -32016, retryable: false },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof ERROR_TABLE

/** The exit code of work that was done, but not whole: issues, mismatches or missing rows, each of them listed. */
export const EXIT_NOT_WHOLE = 4

export interface PondErrorOptions {
  /** Facts for programs, shown to callers: paths, ids, candidates. Never a credential, never a stack. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** An operation that cannot be done. The message says what happened and what to do next. */
export class PondError extends Error {
  override readonly name = "PondError"
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, options: PondErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined)
    this.code = code
    this.details = options.details ?? {}
  }

  get row(): ErrorRow {
    return ERROR_TABLE[this.code]
  }
}

/** What may come from any file that is written, wherever that is. */
const MACHINE: Readonly<Record<string, string>> = {
  ENOSPC: "A disk that pond writes to is full. Free some space and run it again; `pond doctor` shows which disk.",
  EDQUOT: "Your disk quota is exceeded. Free some space and run it again; `pond doctor` shows where.",
  EROFS: "A disk that pond writes to is mounted read-only. `pond doctor` shows which one.",
  EMFILE: "Too many open files. Raise the limit (`ulimit -n`) and run it again.",
  ENFILE: "The system has too many open files. Close other programs and run it again.",
}

/** Often what `sudo` left: files of another user among one's own. */
function forbidden(error: Error): string | undefined {
  if (!("code" in error && "path" in error) || !["EACCES", "EPERM"].includes(String(error.code))) return undefined
  return `Permission denied: ${String(error.path)} (${String(error.code)}). Fix its permissions with chmod or chown.`
}

/** What no row names is ours to mend: `internal`, with nothing of it shown outside and all of it in the log. */
export function toPondError(error: unknown): PondError {
  if (error instanceof PondError) return error
  const said = error instanceof Error && "code" in error ? (MACHINE[String(error.code)] ?? forbidden(error)) : undefined
  if (said !== undefined) return new PondError("storage_unavailable", said, { cause: error })
  return new PondError("internal", "pond failed unexpectedly. Run it again with -v and report the output.", {
    cause: error,
  })
}

/** A fact that our own code guarantees. Where it does not hold, the fault is ours. */
export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new PondError("internal", `pond expected that ${what}.`)
}
