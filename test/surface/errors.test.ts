/** The closed table, frozen: a code without a line here fails the type check, a changed number fails the test. */
import { expect, test } from "bun:test"
import { ERROR_TABLE, type ErrorCode, EXIT_NOT_WHOLE, PondError, toPondError } from "../../src/model/errors.ts"

const PINNED: Record<ErrorCode, readonly [http: number, exit: number, rpc: number, retryable: boolean]> = {
  validation_failed: [400, 2, -32010, false],
  version_unsupported: [400, 2, -32011, false],
  not_found: [404, 3, -32012, false],
  namespace_unknown: [403, 7, -32013, false],
  unauthorized: [401, 7, -32019, false],
  storage_unavailable: [503, 5, -32014, true],
  conflict: [409, 6, -32015, true],
  would_overwrite: [409, 8, -32017, false],
  interrupted: [503, 130, -32018, true],
  internal: [500, 1, -32016, false],
}

test("every code keeps its status, its exit code, its JSON-RPC code and whether it may be tried again", () => {
  const table = Object.entries(ERROR_TABLE).map(([code, row]) => [code, [row.http, row.exit, row.rpc, row.retryable]])
  expect(Object.fromEntries(table)).toEqual(PINNED)
})

test("work that is not whole has an exit code that no error has", () => {
  expect(EXIT_NOT_WHOLE).toBe(4)
  expect(Object.values(ERROR_TABLE).map(({ exit }) => Number(exit))).not.toContain(EXIT_NOT_WHOLE)
})

test("an error of ours stays itself, any other becomes internal and keeps what it was as its cause", () => {
  const ours = new PondError("not_found", "No such session.", { details: { id: "x" } })
  expect(toPondError(ours)).toBe(ours)
  const theirs = new TypeError("secret")
  const wrapped = toPondError(theirs)
  expect({ code: wrapped.code, cause: wrapped.cause, details: wrapped.details }).toEqual({
    code: "internal",
    cause: theirs,
    details: {},
  })
  expect(wrapped.message).not.toContain("secret")
})

test.each(["ENOSPC", "EDQUOT", "EROFS"])("%s is no fault of ours, wherever it comes from", (code) => {
  const theirs = Object.assign(new Error(`${code}: /home/someone/secret`), { code })
  const { message, cause, details, code: ownCode } = toPondError(theirs)
  expect({ cause, details, code: ownCode }).toEqual({ cause: theirs, details: {}, code: "storage_unavailable" })
  expect(message).toContain("`pond doctor` shows")
  expect(message).not.toContain("secret")
})
