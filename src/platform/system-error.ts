/** Errors with a `code`: those of the operating system ("ENOENT") and those of SQLite ("SQLITE_BUSY"). */
import { PondError } from "../model/errors.ts"

/** `ENOENT`, `EACCES`, … Node's own codes (`ERR_INVALID_ARG_TYPE`) have an underscore: they are faults of the caller. */
const ERRNO = /^E[A-Z0-9]+$/

/** Whether the operating system refused, with any of these codes; with any code at all where none is named. */
export function isSystemError(error: unknown, ...codes: readonly string[]): error is Error & { readonly code: string } {
  const code = errorCode(error)
  if (code === undefined) return false
  return codes.length === 0 ? ERRNO.test(code) : codes.includes(code)
}

/** The code of an error of the system, of the runtime or of SQLite. `PondError` has other codes. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof PondError || !("code" in error)) return undefined
  return typeof error.code === "string" ? error.code : undefined
}
