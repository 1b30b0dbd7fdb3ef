import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { systemClock } from "../../src/platform/host/clock.ts"
import { openNamespaces } from "../../src/substrate/namespaces.ts"
import { EVERY_KIND, row, testStore } from "./support.ts"

const OPAQUE = [
  "../../etc",
  "/",
  "..",
  "a/b\\c",
  "NUL\u0000inside",
  "\ud83d half",
  "Ünï cödé 😀",
  "con",
  " ",
  "a".repeat(1024),
  "LOCAL",
]

test("the personal namespace is the store itself, and needs no provisioning", async () => {
  using place = testStore()
  const namespaces = openNamespaces(place.store, systemClock)
  expect(await namespaces.resolve(undefined)).toBe(place.store)
  expect(await namespaces.resolve("local")).toBe(place.store)
  expect(await namespaces.create("local")).toBe(false)
  expect(await namespaces.list()).toEqual([{ name: "local", createdAtMs: undefined }])
  expect(readdirSync(place.path)).toEqual([])
})

test("a namespace that was not provisioned is unknown, whatever it looks like", async () => {
  using place = testStore()
  const namespaces = openNamespaces(place.store, systemClock)
  for (const name of [...OPAQUE, ""]) {
    expect(await namespaces.resolve(name).catch((error) => error)).toMatchObject({ code: "namespace_unknown" })
  }
})

test("the folder of a namespace has a name of pond's own making", async () => {
  using place = testStore()
  const namespaces = openNamespaces(place.store, systemClock)
  for (const name of OPAQUE) {
    await namespaces.create(name)
    await (await namespaces.resolve(name)).table(EVERY_KIND).insertAbsent([row("a")])
  }
  const folders = readdirSync(place.path).filter((name) => name.startsWith("ns-"))
  expect(folders.length).toBe(OPAQUE.length)
  for (const folder of folders) expect(folder).toMatch(/^ns-[0-9a-f]{40}$/)
})

test("a namespace is provisioned once, by whoever is first", async () => {
  using place = testStore()
  const made = await Promise.all([1, 2, 3].map(() => openNamespaces(place.open(), systemClock).create("tenant")))
  expect(made.filter(Boolean).length).toBe(1)
  expect(await openNamespaces(place.store, systemClock).create("tenant")).toBe(false)
  for (const name of ["", "a".repeat(1025)]) {
    const refused = await openNamespaces(place.store, systemClock)
      .create(name)
      .catch((error) => error)
    expect(refused).toMatchObject({ code: "validation_failed" })
  }
})
