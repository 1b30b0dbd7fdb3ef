/** What a watcher knows of a root: a change is never taken for none, and is told once. */
import { expect, test } from "bun:test"
import { mkdirSync, renameSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { SourceUnit } from "../../src/adapters/adapter.ts"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { opencode } from "../../src/adapters/opencode/adapter.ts"
import type { ImportSource } from "../../src/sync/import.ts"
import { createUnitIndex, type UnitIndex } from "../../src/sync/watch/unit-index.ts"
import { clientDatabase, NOW, tempRoot, user } from "../adapters/opencode/support.ts"
import { SESSION, syncPlace, userLine } from "./support.ts"

/** As if it had been planned long after everything was written, unless it is said. */
async function knownOf(source: ImportSource, plannedAtMs = Number.MAX_SAFE_INTEGER): Promise<UnitIndex> {
  const units: SourceUnit[] = []
  for await (const found of source.adapter.source.plan(source.root)) if ("files" in found) units.push(found)
  expect(units.length).toBeGreaterThan(0)
  return createUnitIndex(source, units, plannedAtMs)
}

test("another log of the same size and time is a change, and one that was looked at is none any more", async () => {
  using place = syncPlace()
  const path = place.write(SESSION, [userLine(SESSION, 1, "one")])
  const key = path.slice(place.root.length + 1)
  const known = await knownOf({ adapter: claudeCode, root: place.root })
  const { mtimeMs, size, ino } = statSync(path)
  expect(known.look(0)).toEqual([])
  const other = join(place.root, "other")
  writeFileSync(
    other,
    userLine(SESSION, 1, "two")
      .padEnd(size - 1)
      .concat("\n"),
  )
  utimesSync(other, mtimeMs / 1_000, mtimeMs / 1_000)
  renameSync(other, path)
  expect([statSync(path).size, statSync(path).mtimeMs, statSync(path).ino === ino]).toEqual([size, mtimeMs, false])
  const changed = known.at([key])
  expect(changed?.map((unit) => unit.files[0]?.inode)).toEqual([statSync(path).ino])

  place.append(SESSION, `${userLine(SESSION, 2, "three")}\n`)
  expect(known.at([key])?.[0]?.files[0]?.sizeBytes).toBe(statSync(path).size)
})

test("what grew is told by one look, and by none once it was looked at", async () => {
  using place = syncPlace()
  const path = place.write(SESSION, [userLine(SESSION, 1, "one")])
  const known = await knownOf({ adapter: claudeCode, root: place.root })
  const key = path.slice(place.root.length + 1)
  expect(known.look(0)).toEqual([])
  place.append(SESSION, `${userLine(SESSION, 2, "two")}\n`)
  expect(known.look(0)).toEqual([key])
  known.at([key])
  expect(known.look(0)).toEqual([])
  // As many bytes under the same time: only when it was touched tells, once the clock of the disk has gone on.
  const { mtimeMs, ctimeMs, size } = statSync(path)
  do {
    writeFileSync(path, Buffer.alloc(size, "x"))
    utimesSync(path, mtimeMs / 1_000, mtimeMs / 1_000)
  } while (statSync(path).ctimeMs === ctimeMs)
  expect(known.look(0)).toEqual([key])
})

test("of a database its places tell nothing, and a look at its log tells that anything may have changed", async () => {
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  client.session()
  const known = await knownOf({ adapter: opencode, root: temp.root })
  for (const place of ["opencode.db", "opencode.db-wal", "opencode.db-journal"])
    expect(known.at([place])).toBeUndefined()
  expect(known.at(["elsewhere"])).toEqual([])
  expect(known.look(NOW)).toEqual([])
  client.message("msg_1", NOW, user())
  expect(known.look(NOW)).toBe("all")
  client.database.close()
})

test("a directory that changed while the plan was made is looked at whole, and one that was made since too", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  const source = { adapter: claudeCode, root: place.root }
  utimesSync(join(place.root, "projects"), 1_700_000_000, 1_700_000_000)
  expect((await knownOf(source, 0)).look(0)).toBe("all")
  const known = await knownOf(source)
  expect(known.look(0)).toEqual([])
  mkdirSync(join(place.root, "projects", "-another"))
  expect(known.look(0)).toBe("all")
})
