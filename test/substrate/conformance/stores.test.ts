/** The door over Lance and in memory: freshness, snapshots, maintenance, folders, namespaces, staging. */
import { describe, expect, test } from "bun:test"
import { systemClock } from "../../../src/platform/host/clock.ts"
import { rowsOfBatch } from "../../../src/substrate/columns/row-batch.ts"
import { eq } from "../../../src/substrate/filter.ts"
import { openNamespaces } from "../../../src/substrate/namespaces.ts"
import { EVERY_KIND, row, STORES } from "../support.ts"

import { full, idsOf, LINES, line, refusal, sortedIds } from "./support.ts"

describe.each(STORES)("%s", (_name, make) => {
  // --- Freshness, versions, snapshots ----------------------------------------------------------------------------------------

  test("another handle sees a commit at its next read, and the version changes with the table", async () => {
    using place = make()
    const reader = place.open().table(EVERY_KIND)
    expect([await reader.count(), await reader.version(), await reader.lastCommit()]).toEqual([0, undefined, undefined])
    await place.store.table(EVERY_KIND).insertAbsent([row("a")])
    expect(await reader.count()).toBe(1)
    const [version, commit] = [await reader.version(), await reader.lastCommit()]
    await place.store.table(EVERY_KIND).insertAbsent([row("b")])
    expect(await reader.count()).toBe(2)
    expect(await reader.version()).not.toBe(version)
    expect(await reader.lastCommit()).not.toBe(commit)
  })

  test("a snapshot stays as it was, and gives whole rows", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    expect(await table.snapshot()).toBeUndefined()
    await table.insertAbsent([full, row("a")])
    const snapshot = await table.snapshot()
    await table.insertAbsent([row("later")])
    expect(await snapshot?.count()).toBe(2)
    expect(await snapshot?.count(eq("id", "later"))).toBe(0)
    const rows = (await Array.fromAsync(snapshot?.rows(["id"]) ?? [])).flat()
    expect(sortedIds(rows as { id: string }[])).toEqual(["a", "full"])
    const batches = await Array.fromAsync(snapshot?.batches(eq("id", "full")) ?? [])
    expect(batches.flatMap((batch) => rowsOfBatch(batch))).toEqual([full])
    snapshot?.end()
    expect(await table.count()).toBe(3)
  })

  test("a table that was never written reads as empty", async () => {
    using place = make()
    const table = place.store.at("not there").table(EVERY_KIND)
    expect(await table.read({ columns: ["id"], where: eq("id", "a") })).toEqual([])
    expect(await table.count()).toBe(0)
    expect(await table.statistics()).toBeUndefined()
    expect((await table.maintain("all")).steps).toEqual([])
    expect(await Array.fromAsync(table.scanByNumber({ from: 0, columns: ["id"] }))).toEqual([])
    expect(await place.store.names()).toEqual([])
  })

  // --- Derived tables, maintenance -------------------------------------------------------------------------------------------

  test("rows are deleted of a derived table alone, and their numbers are not given again", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    await table.insertAbsent([row("a")])
    expect(await refusal(table.deleteWhere(eq("id", "a")))).toMatchObject({ code: "internal" })
    const derived = place.store.at("derived").table({ ...EVERY_KIND, derived: true })
    await derived.insertAbsent([row("a"), row("b")])
    expect(await derived.deleteWhere(eq("id", "b"))).toEqual({ deleted: 1 })
    expect(await derived.deleteWhere(eq("id", "b"))).toEqual({ deleted: 0 })
    expect(await derived.insertAbsent([row("a"), row("b")])).toMatchObject({ inserted: 1, present: 1 })
    const [again] = await Array.fromAsync(derived.scanByNumber({ from: 2, columns: ["id"] }))
    expect([again?.numbers, again?.rows.map(({ id }) => id)]).toEqual([[2], ["b"]])
  })

  test("maintenance indexes and compacts, says so, and has nothing to do again", async () => {
    using place = make()
    const table = place.store.table(LINES)
    for (let round = 0; round < 3; round++) {
      await table.insertAbsent(Array.from({ length: 500 }, (_line, index) => line(round * 500 + index)))
    }
    expect((await table.statistics())?.fragments).toBe(3)
    expect((await table.maintain("lookups")).steps).toEqual([])
    const { isBusy, steps } = await table.maintain("all")
    expect([isBusy, steps.map(({ step }) => step)]).toEqual([false, ["build_index", "optimize", "clean"]])
    const after = await table.statistics()
    expect([after?.rows, after?.fragments]).toEqual([1500, 1])
    expect(after?.indexes.map(({ name, indexedRows, unindexedRows }) => [name, indexedRows, unindexedRows])).toEqual([
      ["group_id_btree", 1500, 0],
    ])
    expect((await table.maintain("due")).steps).toEqual([])
    await table.insertAbsent([line(1500)])
    expect((await table.statistics())?.indexes[0]?.unindexedRows).toBe(1)
    expect(await table.count(eq("group_id", "g"))).toBe(1501)
  })

  // --- Stores: folders, namespaces, staging, the write lock -------------------------------------------------------------------

  test("a store inside a store has tables of its own, and names say what was written", async () => {
    using place = make()
    await place.store
      .at("inside")
      .table(EVERY_KIND)
      .insertAbsent([row("a")])
    await place.store.table(LINES).insertAbsent([line(1)])
    expect(await place.store.names()).toEqual(["lines"])
    expect(await place.open().at("inside").names()).toEqual(["every_kind"])
    expect(await place.store.table(EVERY_KIND).count()).toBe(0)
    expect(await place.open().at("inside").table(EVERY_KIND).count()).toBe(1)
    expect(place.store.at("inside").location.uri).not.toBe(place.store.location.uri)
  })

  test("namespaces are opaque names: each has tables of its own, and is provisioned once", async () => {
    using place = make()
    const namespaces = openNamespaces(place.store, systemClock)
    const names = [
      "../../etc",
      "a/b\\c",
      "NUL\u0000inside",
      "\ud83d half",
      "Ünï cödé 😀",
      " ",
      "a".repeat(1024),
      "LOCAL",
    ]
    expect(await refusal(namespaces.resolve(" "))).toMatchObject({ code: "namespace_unknown" })
    for (const name of names) expect(await namespaces.create(name)).toBe(true)
    for (const name of names) {
      const table = (await namespaces.resolve(name)).table(EVERY_KIND)
      expect(await table.insertAbsent([row("same id", { text: name })])).toMatchObject({ inserted: 1 })
    }
    const other = openNamespaces(place.open(), systemClock)
    for (const name of names) {
      const rows = await (await other.resolve(name)).table(EVERY_KIND).read({ columns: ["text"] })
      expect(rows).toEqual([{ text: name }])
    }
    expect(await other.create("LOCAL")).toBe(false)
    expect(await other.resolve(undefined)).not.toBe(await other.resolve("LOCAL"))
    expect(new Set((await other.list()).map(({ name }) => name))).toEqual(new Set(["local", ...names]))
    expect(await place.store.table(EVERY_KIND).count()).toBe(0)
  })

  test("staged tables are seen once they are adopted, and never take the place of one that is there", async () => {
    using place = make()
    const staging = await place.store.openStaging()
    expect(await place.open().openStaging()).toBeUndefined()
    await staging?.store.table(EVERY_KIND).insertAbsent([full])
    await staging?.store.table(LINES).insertAbsent([line(1)])
    expect(await place.store.names()).toEqual([])
    expect(await staging?.adopt("every_kind")).toBe(true)
    await place.store.table(LINES).insertAbsent([line(2)])
    expect(await staging?.adopt("lines")).toBe(false)
    await staging?.end()
    const reader = place.open()
    expect(await reader.names()).toEqual(["every_kind", "lines"])
    expect(idsOf(await reader.table(EVERY_KIND).read({ columns: ["id"] }))).toEqual(["full"])
    expect((await reader.table(LINES).read({ columns: ["number"] })).map(({ number }) => number)).toEqual([2])
    const next = await place.open().openStaging()
    expect(await next?.store.names()).toEqual([])
    await next?.end()
  })

  test("work under the write lock is done one after the other, by all handles, also after one that failed", async () => {
    using place = make()
    const [one, other] = [place.store, place.open()]
    const done: string[] = []
    const work = (name: string) => async () => {
      done.push(`${name} begins`)
      await place
        .open()
        .table(EVERY_KIND)
        .insertAbsent([row(name)])
      done.push(`${name} ends`)
      if (name === "b") throw new Error("failed")
    }
    await Promise.allSettled([
      one.withWriteLock(work("a")),
      other.withWriteLock(work("b")),
      one.withWriteLock(work("c")),
    ])
    expect(done.length).toBe(6)
    for (let at = 0; at < 6; at += 2) expect(done[at + 1]?.[0]).toBe(done[at]?.[0])
  })
})
