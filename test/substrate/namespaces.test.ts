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

test("an opaque name is one namespace of its own: what is stored there is seen nowhere else", async () => {
  using place = testStore()
  const namespaces = openNamespaces(place.store, systemClock)
  for (const name of OPAQUE) expect(await namespaces.create(name)).toBe(true)
  for (const name of OPAQUE) {
    const table = (await namespaces.resolve(name)).table(EVERY_KIND)
    expect(await table.insertAbsent([row("same id", { text: name })])).toMatchObject({ inserted: 1 })
  }
  const elsewhere = openNamespaces(place.open(), systemClock)
  for (const name of OPAQUE) {
    const rows = await (await elsewhere.resolve(name)).table(EVERY_KIND).read({ columns: ["text"] })
    expect(rows).toEqual([{ text: name }])
  }
  expect(await place.store.table(EVERY_KIND).count()).toBe(0)
  expect(new Set((await elsewhere.list()).map(({ name }) => name))).toEqual(new Set(["local", ...OPAQUE]))
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
