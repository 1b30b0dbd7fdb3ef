import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { PondError } from "../../src/model/errors.ts"
import { errorCode, isSystemError } from "../../src/platform/system-error.ts"

function caught(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

test("a file that does not exist is a system error, of that code and of no other", () => {
  const error = caught(() => readFileSync("/there/is/no/such/file"))
  expect(isSystemError(error)).toBe(true)
  expect(isSystemError(error, "EACCES", "ENOENT")).toBe(true)
  expect(isSystemError(error, "EACCES")).toBe(false)
})

test("an error of SQLite has a code, and is an error of the system only where its code is named", () => {
  const error = caught(() => new Database("/there/is/no/such/database", { readonly: true }))
  expect(errorCode(error)).toStartWith("SQLITE_")
  expect(isSystemError(error)).toBe(false)
  expect(isSystemError(error, "SQLITE_CANTOPEN")).toBe(true)
})

test("an error of pond, a wrong argument and a value that is no error have no system code", () => {
  expect(errorCode(new PondError("not_found", "There is none."))).toBeUndefined()
  expect(errorCode({ code: "ENOENT" })).toBeUndefined()
  expect(isSystemError(Object.assign(new TypeError("wrong"), { code: "ERR_INVALID_ARG_TYPE" }))).toBe(false)
})
