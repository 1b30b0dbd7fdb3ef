/** How a root looks: nothing that changed is taken for nothing, and nothing is asked twice. */
import { expect, test } from "bun:test"
import { rmSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import type { SourceFile, SourceUnit } from "../../src/adapters/adapter.ts"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { createRootFingerprint } from "../../src/sync/plan/plan-root.ts"
import { openSyncState } from "../../src/sync/state/sync-state.ts"
import { sourceFile } from "../source-file.ts"
import { SESSION, type SyncPlace, sessionId, syncPlace, userLine } from "./support.ts"

const file = (place: string, other: Parameters<typeof sourceFile>[1] = {}): SourceFile =>
  sourceFile(place, {
    path: `/root/${place}`,
    sizeBytes: 10,
    modifiedMs: 1_700_000_000_000.25,
    changedMs: 1_700_000_000_000.25,
    inode: 7,
    ...other,
  })

const unit = (key: string, files: readonly SourceFile[], other: Partial<SourceUnit> = {}): SourceUnit => ({
  key,
  root: "/root",
  files,
  ...other,
})

function textOf(units: readonly SourceUnit[]): string {
  const look = createRootFingerprint()
  for (const each of units) look.add(each)
  return look.text()
}

const title = (text: string) => ({ form: "log", file: file("index"), line: 1, text }) as const

test("whatever differs, the look does", () => {
  const others: Record<string, readonly SourceUnit[]> = {
    "the same": [unit("a", [file("a")]), unit("b", [file("b")])],
    "the other order": [unit("b", [file("b")]), unit("a", [file("a")])],
    "one less": [unit("a", [file("a")])],
    "one unit of two files": [unit("a", [file("a"), file("b")])],
    "another name": [unit("a", [file("a")]), unit("c", [file("c")])],
    "another place of the same session": [unit("a", [file("a")]), unit("b", [file("c")])],
    "another size": [unit("a", [file("a", { sizeBytes: 11 })]), unit("b", [file("b")])],
    "a quarter of a millisecond": [unit("a", [file("a", { modifiedMs: 1_700_000_000_000.5 })]), unit("b", [file("b")])],
    "only touched": [unit("a", [file("a", { changedMs: 1_700_000_000_001 })]), unit("b", [file("b")])],
    "not known when touched": [unit("a", [fileWithoutTouch()]), unit("b", [file("b")])],
    "another file of that name": [unit("a", [file("a", { inode: 8 })]), unit("b", [file("b")])],
    "exchanged sizes": [unit("a", [file("a", { sizeBytes: 9 })]), unit("b", [file("b", { sizeBytes: 11 })])],
    "exchanged back": [unit("a", [file("a", { sizeBytes: 11 })]), unit("b", [file("b", { sizeBytes: 9 })])],
    "a title": [unit("a", [file("a")], { beside: [title("one")] }), unit("b", [file("b")])],
    "another title": [unit("a", [file("a")], { beside: [title("two")] }), unit("b", [file("b")])],
    "two titles": [unit("a", [file("a")], { beside: [title("o"), title("ne")] }), unit("b", [file("b")])],
    "a title of the other": [unit("a", [file("a")]), unit("b", [file("b")], { beside: [title("one")] })],
    "a row": [unit("a", [file("a", { form: "database" })], { row: { id: "1", mark: "m" } }), unit("b", [file("b")])],
    "another row": [
      unit("a", [file("a", { form: "database" })], { row: { id: "1", mark: "n" } }),
      unit("b", [file("b")]),
    ],
  }
  const texts = Object.values(others).map(textOf)
  expect(new Set(texts).size).toBe(texts.length)
  expect(textOf(others["the same"] ?? [])).toBe(texts[0] ?? "")
  // A database changes with every session that is in it.
  const rowIn = (sizeBytes: number) =>
    textOf([unit("a", [file("a", { form: "database", sizeBytes })], { row: { id: "1", mark: "m" } })])
  expect(rowIn(1)).toBe(rowIn(2))
})

function fileWithoutTouch(): SourceFile {
  const { changedMs: _, ...rest } = file("a")
  return rest
}

/** What is kept of the root; nothing where each unit will be asked for. */
function keptOf({ state, root }: SyncPlace): string | undefined {
  const path = join(state, `sync-${Bun.hash.xxHash64("test").toString(16).padStart(16, "0")}`)
  const opened = openSyncState({ path, log: silentLog, storeMark: () => undefined })
  try {
    return opened.look("claude-code", root)
  } finally {
    opened.close()
  }
}

test("it is kept once every unit is remembered as it lies there, and until another thing is remembered", async () => {
  using place = syncPlace()
  for (const session of [SESSION, sessionId(2)]) place.write(session, [userLine(session, 1, "one")])
  await place.sync()
  const first = keptOf(place)
  expect(first).toBeString()
  expect((await place.sync()).sessions).toMatchObject({ seen: 2, unchanged: 2, gone: 0 })
  expect(keptOf(place)).toBe(first)

  // What a watch stores of one unit leaves the others unseen.
  place.append(SESSION, `${userLine(SESSION, 2, "two")}\n`)
  const { sources } = place.request
  const only: SourceUnit[] = []
  for await (const found of claudeCode.source.plan(place.root)) if ("files" in found) only.push(found)
  await place.sync({ sources: sources.map((source) => ({ ...source, only: only.slice(0, 1) })) })
  expect(keptOf(place)).toBeUndefined()
  expect((await place.sync()).sessions).toMatchObject({ seen: 2, unchanged: 2 })
  expect(keptOf(place)).toBeString()
  expect(keptOf(place)).not.toBe(first)

  rmSync(join(place.root, only[1]?.key ?? ""))
  expect((await place.sync()).sessions).toMatchObject({ seen: 1, unchanged: 1, gone: 1 })
  expect((await place.sync()).sessions).toMatchObject({ seen: 1, unchanged: 1, gone: 0 })
})

test("of an import that was stopped it is not kept, nor while a session does not say which one it is", async () => {
  using place = syncPlace()
  for (const session of [SESSION, sessionId(2)]) place.write(session, [userLine(session, 1, "one")])
  const stop = new AbortController()
  await place.sync({}, { signal: stop.signal, onPlan: () => stop.abort() })
  expect(keptOf(place)).toBeUndefined()
  expect((await place.sync()).sessions).toMatchObject({ seen: 2, new: 2 })
  expect(keptOf(place)).toBeString()

  const nameless = place.write(sessionId(3), [JSON.stringify({ type: "mode", mode: "plan" })], { isFresh: true })
  expect((await place.sync()).sessions).toMatchObject({ seen: 3, nameless: 1 })
  expect(keptOf(place)).toBeUndefined()
  // Its client has long been silent: it is stored without another byte.
  const { mtimeMs } = statSync(nameless)
  const clock = { ...place.context.clock, nowMs: () => mtimeMs + 30 * 86_400_000 }
  expect((await place.sync({}, { clock })).sessions).toMatchObject({ seen: 3, unchanged: 2 })
})

test("what went while something else could not be looked at is gone once it can be", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  const other = place.write(sessionId(2), [userLine(sessionId(2), 1, "one")])
  await place.sync()
  rmSync(other)
  const link = join(place.root, "projects/-home-someone-work/link.jsonl")
  symlinkSync(join(place.root, "nowhere"), link)
  const seen = await place.sync()
  expect([seen.sessions.gone, seen.issues.map(({ kind }) => kind)]).toEqual([0, ["unreadable_file"]])
  rmSync(link)
  expect((await place.sync()).sessions).toMatchObject({ seen: 1, unchanged: 1, gone: 1 })
})
