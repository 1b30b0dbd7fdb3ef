/** On an object store a request is a tenth of a second, and a commit a whole one. */
import { expect, test } from "bun:test"
import { countStoreRequests } from "../support/store-requests.ts"

test("an import commits once per table, and a read asks for what it needs and no more", async () => {
  const counted = await countStoreRequests()
  expect(counted.importCommits).toBeGreaterThan(0)
  expect(counted.importCommits).toBeLessThanOrEqual(20)
  expect(counted.repeatedCommits).toBe(0)
  expect(counted.messageById.first).toBeGreaterThan(0)
  expect(counted.messageById.later).toBeLessThanOrEqual(8)
  expect(counted.messageById.first).toBeLessThanOrEqual(40)
  expect(counted.sessionOf200.later).toBeLessThanOrEqual(12)
  expect(counted.sessionOf200.first).toBeLessThanOrEqual(40)
}, 60_000)
