/** Exit codes are what scripts go by: they stay as they are. */
import { expect, test } from "bun:test"
import { ERROR_TABLE, EXIT_NOT_WHOLE } from "../../src/model/errors.ts"

test("each failure has the exit code that it always had", () => {
  expect(EXIT_NOT_WHOLE).toBe(4)
  expect(Object.fromEntries(Object.entries(ERROR_TABLE).map(([code, row]) => [code, row.exit]))).toEqual({
    ...{ validation_failed: 2, version_unsupported: 2, not_found: 3, namespace_unknown: 7, unauthorized: 7 },
    ...{ storage_unavailable: 5, conflict: 6, would_overwrite: 8, interrupted: 130, internal: 1 },
  })
})
