import { expect, test } from "bun:test"
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { SourceUnit } from "../../src/adapters/adapter.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import type { ImportSource } from "../../src/sync/import.ts"
import { planRoot } from "../../src/sync/plan/plan-root.ts"
import type { SyncState } from "../../src/sync/state/sync-state.ts"
import { runSync } from "../../src/sync/sync.ts"
import { createUnitIndex } from "../../src/sync/watch/unit-index.ts"
import { type WatchTimes, watchSources } from "../../src/sync/watch/watch-sources.ts"
import { sourceFile } from "../source-file.ts"
import { SESSION, type SyncPlace, sessionId, syncPlace, userLine } from "./support.ts"

/** Less than the test has. The machine may be busy, and the promise of two seconds is measured by the benchmark. */
const PATIENCE_MS = 50_000

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const endMs = performance.now() + PATIENCE_MS
  while (performance.now() < endMs) {
    const found = await look()
    if (found !== undefined) return found
    await Bun.sleep(20)
  }
  throw new Error(`waited in vain until ${what}`)
}

function holds(place: SyncPlace, session: string, text: string): () => Promise<true | undefined> {
  return async () => ((await place.texts(session)).includes(text) ? true : undefined)
}

interface Watching {
  readonly times?: Partial<WatchTimes>
  readonly sources?: () => readonly ImportSource[]
  readonly onRound?: (sources: readonly ImportSource[]) => void
}

/** Watches while the test runs; events alone, unless a time is given. */
async function watching(
  place: SyncPlace,
  act: () => Promise<void>,
  { times = {}, sources: listed = () => place.request.sources, onRound }: Watching = {},
): Promise<number> {
  const stop = new AbortController()
  let rounds = 0
  const done = watchSources({
    sources: listed,
    sync: async (sources) => {
      rounds++
      onRound?.(sources)
      await runSync({ ...place.request, sources, isPatient: true }, place.context)
      return "news"
    },
    signal: stop.signal,
    clock: systemClock,
    log: silentLog,
    times: { settleMs: 20, apartMs: 0, sweepMs: 3_600_000, ...times },
  })
  try {
    await until("the first sweep is over", async () => (rounds > 0 ? true : undefined))
    await act()
  } finally {
    stop.abort()
    await done
  }
  return rounds
}

test("a line that a client adds is stored, and so is a session in a project that did not exist", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  await watching(place, async () => {
    place.append(SESSION, `${userLine(SESSION, 2, "two")}\n`)
    await until("the line is there", holds(place, SESSION, "two"))
    const folder = join(place.root, "projects", "-home-someone-new")
    mkdirSync(folder)
    writeFileSync(join(folder, `${sessionId(2)}.jsonl`), `${userLine(sessionId(2), 3, "elsewhere")}\n`)
    await until("the new project is there", holds(place, sessionId(2), "elsewhere"))
    appendFileSync(join(folder, `${sessionId(2)}.jsonl`), `${userLine(sessionId(2), 4, "and on")}\n`)
    await until("it goes on", holds(place, sessionId(2), "and on"))
  })
})

test("a directory that is renamed, and a file that is replaced, are followed", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  await watching(place, async () => {
    const moved = join(place.root, "projects", "-home-someone-moved")
    renameSync(join(place.root, "projects", "-home-someone-work"), moved)
    appendFileSync(join(moved, `${SESSION}.jsonl`), `${userLine(SESSION, 2, "after the move")}\n`)
    await until("the move is followed", holds(place, SESSION, "after the move"))
    const draft = join(moved, "draft.tmp")
    const lines = ["one", "after the move", "replaced"].map((text, index) => userLine(SESSION, index + 1, text))
    writeFileSync(draft, `${lines.join("\n")}\n`)
    renameSync(draft, join(moved, `${SESSION}.jsonl`))
    await until("the replacement is there", holds(place, SESSION, "replaced"))
  })
})

test("a sweep finds what no event told, and a root that comes back is followed again", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  await watching(
    place,
    async () => {
      rmSync(place.root, { recursive: true })
      const folder = join(place.root, "projects", "-home-someone-work")
      mkdirSync(folder, { recursive: true })
      writeFileSync(
        join(folder, `${SESSION}.jsonl`),
        `${userLine(SESSION, 1, "one")}\n${userLine(SESSION, 2, "back")}\n`,
      )
      await until("the root is back", holds(place, SESSION, "back"))
    },
    { times: { sweepMs: 200, pollMs: 50 } },
  )
})

test("nothing happens while nothing happens", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  let asked = 0
  const sources = () => {
    asked++
    return place.request.sources
  }
  const rounds = await watching(
    place,
    async () => {
      await until("the line is there", holds(place, SESSION, "one"))
      asked = 0
      await Bun.sleep(400)
      // Once, or twice where the machine is slow: whoever does not wait asks hundreds of times.
      expect(asked).toBeLessThan(20)
    },
    { sources },
  )
  expect(rounds).toBe(1)
})

test("who is interrupted while it syncs ends after that sync, not at the next sweep", async () => {
  using place = syncPlace()
  const stop = new AbortController()
  let rounds = 0
  await watchSources({
    sources: () => place.request.sources,
    sync: () => {
      rounds++
      stop.abort()
      return Promise.resolve("nothing")
    },
    signal: stop.signal,
    clock: systemClock,
    log: silentLog,
    times: { settleMs: 0, apartMs: 0, sweepMs: 3_600_000 },
  })
  expect(rounds).toBe(1)
})

test("a log that grows or is replaced costs a look at that log, and a client's notes beside its sessions cost nothing", async () => {
  using place = syncPlace()
  for (let number = 1; number <= 3; number++)
    place.write(sessionId(number), [userLine(sessionId(number), number, "begun")])
  const looks: string[][] = []
  await watching(
    place,
    async () => {
      await until("the first is read", holds(place, sessionId(1), "begun"))
      looks.length = 0
      writeFileSync(join(place.root, "history.jsonl"), "a prompt of some session\n")
      const draft = join(place.root, "projects", "-home-someone-work", "draft.tmp")
      writeFileSync(draft, `${userLine(sessionId(1), 1, "begun")}\n${userLine(sessionId(1), 5, "edited")}\n`)
      renameSync(draft, join(dirname(draft), `${sessionId(1)}.jsonl`))
      await until("the edit is there", holds(place, sessionId(1), "edited"))
      place.append(sessionId(2), `${userLine(sessionId(2), 4, "gone on")}\n`)
      await until("the line is there", holds(place, sessionId(2), "gone on"))
    },
    { onRound: (sources) => looks.push(sources.flatMap(({ only }) => only?.map(({ key }) => key) ?? "everything")) },
  )
  const places = [1, 2].map((number) => `projects/-home-someone-work/${sessionId(number)}.jsonl`)
  expect([...new Set(looks.flat())]).toEqual(places)
})

test("where no events come, what is new is found by looking, and then what grows by a look at that alone", async () => {
  using place = syncPlace()
  const [source] = place.request.sources
  const root = join(place.root, "not-there-yet")
  const narrow: string[] = []
  const missing = source === undefined ? [] : [{ ...source, root }]
  await watching(
    place,
    async () => {
      const folder = join(root, "projects", "-home-someone-new")
      mkdirSync(folder, { recursive: true })
      const log = join(folder, `${SESSION}.jsonl`)
      writeFileSync(log, `${userLine(SESSION, 1, "begun")}\n`)
      for (const directory of [folder, dirname(folder), root]) utimesSync(directory, 1_700_000_000, 1_700_000_000)
      await until("the session is there", holds(place, SESSION, "begun"))
      for (let line = 2; narrow.length === 0 && line < 20; line++) {
        appendFileSync(log, `${userLine(SESSION, line, `line ${line}`)}\n`)
        await until("it has grown", holds(place, SESSION, `line ${line}`))
      }
    },
    {
      times: { pollMs: 20, retryMs: 3_600_000 },
      sources: () => missing,
      onRound: (sources) => narrow.push(...sources.flatMap(({ only }) => only?.map(({ key }) => key) ?? [])),
    },
  )
  expect(narrow).toContain(`projects/-home-someone-new/${SESSION}.jsonl`)
})

test("where no events come, a root that was away while it was looked at is looked at when it is back", async () => {
  using place = syncPlace()
  const path = place.write(SESSION, [userLine(SESSION, 1, "one")])
  for (let folder = dirname(path); folder !== dirname(place.root); folder = dirname(folder))
    utimesSync(folder, 1_700_000_000, 1_700_000_000)
  const away = `${place.root}.away`
  renameSync(place.root, away)
  const stop = new AbortController()
  const done = watchSources({
    sources: () => place.request.sources,
    sync: async (sources) => {
      await runSync({ ...place.request, sources, isPatient: true }, place.context)
      if (existsSync(away)) renameSync(away, place.root)
      return "news"
    },
    signal: stop.signal,
    clock: systemClock,
    log: silentLog,
    times: { settleMs: 0, apartMs: 0, sweepMs: 3_600_000, pollMs: 20, retryMs: 3_600_000 },
  })
  try {
    await until("it is looked at", holds(place, SESSION, "one"))
  } finally {
    stop.abort()
    await done
  }
})

test("a round that failed is tried again, though nothing happens", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  const stop = new AbortController()
  let rounds = 0
  await watchSources({
    sources: () => place.request.sources,
    sync: () => {
      if (++rounds === 2) stop.abort()
      return Promise.resolve(rounds === 1 ? "failed" : "nothing")
    },
    signal: stop.signal,
    clock: systemClock,
    log: silentLog,
    times: { settleMs: 0, apartMs: 0, sweepMs: 3_600_000 },
  })
  expect(rounds).toBe(2)
})

test("a root that went away is waited for, and not asked for again and again", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  let asked = 0
  await watching(
    place,
    async () => {
      await until("the line is there", holds(place, SESSION, "one"))
      rmSync(place.root, { recursive: true })
      await Bun.sleep(100)
      asked = 0
      await Bun.sleep(300)
      expect(asked).toBeLessThan(20)
      place.write(SESSION, [userLine(SESSION, 1, "one"), userLine(SESSION, 2, "back")], { isFresh: true })
      await until("the root is back", holds(place, SESSION, "back"))
    },
    {
      times: { pollMs: 50 },
      sources: () => {
        asked++
        return place.request.sources.filter(({ root }) => existsSync(root))
      },
    },
  )
})

test("what is known of a root says which of its units changed, or that it cannot tell", async () => {
  using place = syncPlace()
  const path = place.write(SESSION, [userLine(SESSION, 1, "one")])
  const [source] = place.request.sources
  const nothingKnown = { look: () => undefined, stamps: () => new Map(), unit: () => undefined } as unknown as SyncState
  const units: SourceUnit[] = []
  const onUnit = (found: SourceUnit) => units.push(found)
  if (source === undefined) throw new Error("there is no source")
  await planRoot(source.adapter, source.root, nothingKnown, { isFull: false, onUnit })
  const [unit] = units
  const [file] = unit?.files ?? []
  const later = systemClock.nowMs() + 30 * 86_400_000
  const known = createUnitIndex(source, units, later)
  expect(unit?.files).toHaveLength(1)
  expect(known.look(file?.modifiedMs ?? 0)).toEqual([])
  place.append(SESSION, `${userLine(SESSION, 2, "two")}\n`)
  expect(known.look(file?.modifiedMs ?? 0)).toEqual([unit?.key ?? ""])
  expect([1, 2, 3].flatMap(() => known.look(later))).toEqual([unit?.key ?? ""])
  const [grown] = known.at([unit?.key ?? ""]) ?? []
  expect(grown?.files[0]?.sizeBytes).toBeGreaterThan(file?.sizeBytes ?? 0)
  expect(known.at(["projects/elsewhere.jsonl"])).toEqual([])
  writeFileSync(`${path}.tmp`, "a draft")
  expect(known.at([`${unit?.key}.tmp`])).toBeUndefined()
  renameSync(`${path}.tmp`, path)
  expect(known.at([`${unit?.key}.tmp`, unit?.key ?? ""])?.map(({ key }) => key)).toEqual([unit?.key ?? ""])
  rmSync(path)
  expect(known.at([unit?.key ?? ""])).toBeUndefined()
  rmSync(dirname(path), { recursive: true })
  expect(known.at(["projects/-home-someone-work"])).toBeUndefined()
  expect(known.look(file?.modifiedMs ?? 0)).toBe("all")
})

/** A session of one log, which lies nowhere: whoever looks for it finds that it has changed. */
function unitAt({ root }: SyncPlace, name: string, modifiedMs: number): SourceUnit {
  const file = sourceFile(name, { path: join(root, name), modifiedMs })
  return { key: name, root, files: [file] }
}

test("of thousands of sessions that rest, a look asks for a part, and a few looks for all; those of today each time", () => {
  using place = syncPlace()
  const [source] = place.request.sources
  if (source === undefined) throw new Error("there is no source")
  const nowMs = systemClock.nowMs()
  const unitOf = (name: string, modifiedMs: number) => unitAt(place, name, modifiedMs)
  const lastIdle = Array.from({ length: 2_500 }, (_, number) => unitOf(`lastIdle-${number}`, 0))
  const known = createUnitIndex(source, [...lastIdle, unitOf("today", nowMs)], nowMs + 60_000)
  const looks = Array.from({ length: 3 }, () => known.look(nowMs) as readonly string[])
  for (const look of looks) {
    expect(look).toContain("today")
    expect(look.length).toBeLessThan(836)
  }
  expect(new Set(looks.flat()).size).toBe(2_501)
})

test("where thousands were gone on with today, each look asks for the youngest, and a few looks for all", () => {
  using place = syncPlace()
  const [source] = place.request.sources
  if (source === undefined) throw new Error("there is no source")
  const nowMs = systemClock.nowMs()
  const units = Array.from({ length: 2_500 }, (_, number) => unitAt(place, `${number}`, nowMs - number * 1_000))
  const known = createUnitIndex(source, units, nowMs + 60_000)
  const looks = Array.from({ length: 3 }, () => known.look(nowMs) as readonly string[])
  for (const look of looks) {
    expect(look).toEqual(expect.arrayContaining(["0", "50", "99"]))
    expect(look.length).toBeLessThan(834 + 100)
  }
  expect(new Set(looks.flat()).size).toBe(2_500)
})

test("a machine that wakes up looks at everything, whatever events it was told", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  const stop = new AbortController()
  const looks: boolean[] = []
  let nights = 0
  // After the first round each look at the clock is on another day.
  const nowMs = () => systemClock.nowMs() + (looks.length > 0 ? ++nights : 0) * 86_400_000
  const clock = { ...systemClock, nowMs }
  await watchSources({
    sources: () => place.request.sources,
    sync: (sources) => {
      looks.push(sources.every(({ only }) => only === undefined))
      if (looks.length === 2) stop.abort()
      return Promise.resolve("nothing")
    },
    signal: stop.signal,
    clock,
    log: silentLog,
    times: { settleMs: 0, apartMs: 0, sweepMs: 3_600_000, pollMs: 10 },
  })
  expect(looks).toEqual([true, true])
})

test("a root that is away while it is looked at has lost nothing, and is not read again when it is back", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  expect((await place.sync()).messages.new).toBe(1)
  renameSync(place.root, `${place.root}.away`)
  expect((await place.sync()).sessions).toMatchObject({ seen: 0, gone: 0 })
  renameSync(`${place.root}.away`, place.root)
  expect(await place.sync()).toMatchObject({ sessions: { seen: 1, unchanged: 1 }, bytes_read: 0 })
})
