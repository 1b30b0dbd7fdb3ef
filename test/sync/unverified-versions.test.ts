import { expect, test } from "bun:test"
import type { Adapter } from "../../src/adapters/adapter.ts"
import { unverifiedVersions } from "../../src/sync/import.ts"

const beyond = (to: string, ...versions: readonly string[]) =>
  unverifiedVersions({ judged: { by: "client", from: "0.1.0", to } } as Adapter, versions)

test("versions are compared by their numbers, and told in their order", () => {
  expect(beyond("1.2.10", "1.2.9", "1.10.0", "1.3", "1.2.10")).toEqual(["1.3", "1.10.0"])
})

test("the name of a build makes no version newer than its release", () => {
  expect(beyond("0.0.1767830505", "0.0.1767830505-ga62310", "0.0.1767830506-ga62310")).toEqual([
    "0.0.1767830506-ga62310",
  ])
  expect(beyond("1.2.3", "1.2.3-beta.4", "1.2.3+build.7")).toEqual([])
  // Dates are versions too.
  expect(beyond("2026-04-01", "2026-04-02")).toEqual(["2026-04-02"])
})
