/** What a sync remembers is a cache of one store: it is believed of that one, and of what lies there now. */
import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { silentLog } from "../../src/platform/host/log.ts"
import { openSyncState, type SyncState, type UnitMemory, withSyncState } from "../../src/sync/state/sync-state.ts"
import type { Meeting } from "./opens-state.ts"

const memoryOf = (stamp: string): UnitMemory => ({
  ...{ stamp, files: {}, positions: {}, session: null, parserState: null },
  ...{ clientVersions: ["1.0"], unknownKinds: ["hologram"], nextOrdinal: 1 },
})
const remember = (state: SyncState, key: string, stamp: string) =>
  state.remember("pi", "/root", new Map([[key, memoryOf(stamp)]]))
const stampsOf = (state: SyncState) => [...state.stamps("pi", "/root")]

function folder(): Disposable & { readonly path: string; open(mark: string | undefined): SyncState } {
  const base = mkdtempSync(join(tmpdir(), "pond-state-"))
  const path = join(base, "state")
  return {
    path,
    open: (mark) => openSyncState({ path, log: silentLog, storeMark: () => mark }),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  }
}

test("what was remembered of another store is not believed, and goes with the first unit of this one", () => {
  using at = folder()
  const one = at.open("one")
  remember(one, "a", "1")
  one.close()
  const other = at.open("other")
  expect([stampsOf(other), other.unit("pi", "/root", "a"), other.met(), other.all()]).toEqual([[], undefined, [], []])
  remember(other, "b", "2")
  expect(stampsOf(other)).toEqual([["b", "2"]])
  other.close()
  for (const mark of ["other", undefined]) {
    const again = at.open(mark)
    expect(stampsOf(again)).toEqual([["b", "2"]])
    expect(again.all().map(({ key }) => key)).toEqual(["b"])
    again.close()
  }
  const first = at.open("one")
  expect(stampsOf(first)).toEqual([])
  first.close()
})

test("what is written past the looks, as builds before them do, leaves none of the root", () => {
  using at = folder()
  const look = (write: string): (string | undefined)[] => {
    const state = at.open("one")
    remember(state, "a", "1")
    for (const root of ["/root", "/other"]) state.rememberRootFingerprint("pi", root, "look")
    expect([state.look("pi", "/root"), state.look("pi", "/other")]).toEqual(["look", "look"])
    using file = new Database(`${at.path}.v1.sqlite`)
    file.run(write)
    const looks = [state.look("pi", "/root"), state.look("pi", "/other")]
    state.close()
    return looks
  }
  const insert =
    "INSERT INTO units (adapter, root, key, stamp, is_gone, memory) VALUES ('pi', '/root', 'KEY', '2', 0, '{}')"
  expect(look(`${insert.replace("KEY", "a")} ON CONFLICT DO UPDATE SET stamp = excluded.stamp`)).toEqual([
    undefined,
    "look",
  ])
  expect(look(insert.replace("KEY", "b"))).toEqual([undefined, "look"])
  expect(look("UPDATE units SET is_gone = 1 WHERE key = 'a'")).toEqual([undefined, "look"])
  expect(look("DELETE FROM units")).toEqual([undefined, "look"])
})

test("a source that is gone is remembered as gone, and as there once it is back", () => {
  using at = folder()
  const state = at.open("one")
  remember(state, "a", "1")
  state.forget("pi", "/root", ["a"])
  expect([stampsOf(state), state.unit("pi", "/root", "a"), state.met()]).toEqual([[], undefined, []])
  expect(state.all()).toMatchObject([{ key: "a", isGone: true }])
  remember(state, "a", "2")
  expect(stampsOf(state)).toEqual([["a", "2"]])
  expect(state.unit("pi", "/root", "a")?.stamp).toBe("2")
  expect(state.all()).toMatchObject([{ key: "a", isGone: false }])
  expect(state.met()).toMatchObject([{ unknownKinds: ["hologram"], sessions: 1 }])
  state.close()
})

test.each([
  ["text", () => Buffer.from("no database ".repeat(1_000))],
  ["pages that were never written", (whole: Buffer) => whole.fill(0xab, 100, 4_096)],
])("a state that is damaged is put aside, and another one is begun: %s", (_, damaged) => {
  using at = folder()
  const state = at.open("one")
  remember(state, "a", "1")
  state.close()
  const [name = ""] = readdirSync(join(at.path, "..")).filter((each) => each.endsWith(".sqlite"))
  const path = join(at.path, "..", name)
  const database = new Database(path)
  database.run("PRAGMA wal_checkpoint(TRUNCATE)")
  database.close()
  const bytes = damaged(readFileSync(path))
  writeFileSync(path, bytes)
  const again = at.open("one")
  expect(stampsOf(again)).toEqual([])
  again.close()
  expect(readFileSync(`${path}.damaged`).equals(bytes)).toBe(true)
})

/** Damage that opening does not meet: it reads which units there are, and nothing that is remembered of one. */
const LATER_DAMAGES: readonly [string, (whole: Buffer) => Buffer][] = [
  [
    "pages of what is remembered",
    (whole) => {
      for (let page = 4_096; page < whole.length; page += 4_096)
        if (whole[page] === 10 && whole.includes("clientVersions", page)) whole.fill(0xff, page, page + 64)
      return whole
    },
  ],
  [
    "what is remembered of a unit",
    (whole) => Buffer.from(whole.toString("latin1").replaceAll('{"stamp"', '?"stamp"'), "latin1"),
  ],
]

test.each(LATER_DAMAGES)("damage that is met while a state is used begins the work anew: %s", async (_, damaged) => {
  using at = folder()
  const state = at.open("one")
  for (let number = 0; number < 300; number++) remember(state, `unit-${number}`, "1")
  state.close()
  const path = `${at.path}.v1.sqlite`
  const bytes = damaged(readFileSync(path))
  writeFileSync(path, bytes)
  const request = { path: at.path, log: silentLog, storeMark: () => "one" }
  const met: number[] = []
  const known = await withSyncState(request, async (opened) => {
    met.push(opened.stamps("pi", "/root").size)
    const unit = opened.unit("pi", "/root", "unit-7")
    remember(opened, "unit-7", "2")
    return [unit, opened.met().length]
  })
  expect({ met, known }).toEqual({ met: [300, 0], known: [undefined, 1] })
  expect(readFileSync(`${path}.damaged`).equals(bytes)).toBe(true)
})

test("one byte of what is remembered of a unit that is another one is damage, whichever it is", async () => {
  using at = folder()
  const state = at.open("one")
  remember(state, "unit", "1")
  state.close()
  const path = `${at.path}.v1.sqlite`
  const database = new Database(path)
  database.run("PRAGMA wal_checkpoint(TRUNCATE)")
  database.close()
  const whole = readFileSync(path)
  const [from, to] = [whole.indexOf('{"stamp"'), whole.indexOf('"nextOrdinal"')]
  expect(to).toBeGreaterThan(from + 100)
  for (let byte = from; byte < to; byte++) {
    const bytes = Buffer.from(whole)
    bytes[byte] = (bytes[byte] ?? 0) ^ 1
    using other = folder()
    writeFileSync(`${other.path}.v1.sqlite`, bytes)
    const request = { path: other.path, log: silentLog, storeMark: () => "one" }
    expect(
      await withSyncState(request, (opened) => Promise.resolve(opened.unit("pi", "/root", "unit"))),
    ).toBeUndefined()
  }
})

/** By somebody else than pond. */
function tampered(path: string, sql: string): void {
  const database = new Database(`${path}.v1.sqlite`)
  database.run(sql)
  database.close()
}

test("a list that is not where it was is damage to whoever asks for all that was met", async () => {
  using at = folder()
  const state = at.open("one")
  remember(state, "unit", "1")
  state.close()
  tampered(at.path, "UPDATE units SET memory = replace(memory, 'unknownKinds', 'unknownKindz')")
  const request = { path: at.path, log: silentLog, storeMark: () => "one" }
  expect(await withSyncState(request, (opened) => Promise.resolve(opened.met()))).toEqual([])
})

test("what an earlier build remembers is believed", () => {
  using at = folder()
  const state = at.open("one")
  remember(state, "unit", "1")
  state.close()
  tampered(at.path, "UPDATE units SET memory = json_remove(memory, '$.sum')")
  const again = at.open("one")
  expect(again.unit("pi", "/root", "unit")).toEqual(memoryOf("1"))
  again.close()
})

test("a state that another process has begun anew meanwhile is not put aside", async () => {
  using at = folder()
  const state = at.open("one")
  for (let number = 0; number < 300; number++) remember(state, `unit-${number}`, "1")
  state.close()
  const path = `${at.path}.v1.sqlite`
  const [, damaged] = LATER_DAMAGES[1] ?? []
  writeFileSync(path, damaged?.(readFileSync(path)) ?? "")
  const request = { path: at.path, log: silentLog, storeMark: () => "one" }
  let isFirst = true
  const known = await withSyncState(request, async (opened) => {
    if (isFirst) {
      isFirst = false
      await withSyncState(request, async (other) => {
        other.unit("pi", "/root", "unit-7")
        remember(other, "unit-8", "3")
      })
    }
    opened.unit("pi", "/root", "unit-7")
    return stampsOf(opened)
  })
  expect(known).toEqual([["unit-8", "3"]])
})

test("who begins a state together with others is not refused", async () => {
  using at = folder()
  const paths = Array.from({ length: 100 }, (_, number) => join(at.path, "..", `state-${number}`))
  const arrived = new SharedArrayBuffer(4 * paths.length)
  const threads = [0, 1, 2].map(() => new Worker(new URL("opens-state.ts", import.meta.url).href))
  const meeting: Meeting = { paths, arrived, threads: threads.length }
  const answers = threads.map(
    (thread) =>
      new Promise((resolve, reject) => {
        thread.onmessage = ({ data }) => resolve(data)
        thread.onerror = reject
        thread.postMessage(meeting)
      }),
  )
  try {
    expect(await Promise.all(answers)).toEqual([[], [], []])
  } finally {
    for (const thread of threads) thread.terminate()
  }
  for (const path of paths) {
    const state = openSyncState({ path, log: silentLog, storeMark: () => "store" })
    remember(state, "a", "1")
    expect(stampsOf(state)).toEqual([["a", "1"]])
    state.close()
  }
})

test("what cannot be opened for another reason is left where it lies", () => {
  using at = folder()
  const state = at.open("one")
  state.close()
  const [name = ""] = readdirSync(join(at.path, "..")).filter((each) => each.endsWith(".sqlite"))
  rmSync(join(at.path, "..", name))
  mkdirSync(join(at.path, "..", name))
  expect(() => at.open("one")).toThrow()
  expect(readdirSync(join(at.path, "..")).filter((each) => each.includes("damaged"))).toEqual([])
})
