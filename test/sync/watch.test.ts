import { expect, test } from "bun:test"
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { systemClock } from "../../src/platform/clock.ts"
import { silentLog } from "../../src/platform/log.ts"
import { runSync } from "../../src/sync/sync.ts"
import { type WatchTimes, watchSources } from "../../src/sync/watch.ts"
import { SESSION, type SyncPlace, sessionId, syncPlace, userLine } from "./support.ts"

/** Generous: the machine may be busy. The promise of two seconds is measured by the benchmark. */
const PATIENCE_MS = 15_000

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

/** Watches while the test runs; events alone, unless a time is given. */
async function watching(place: SyncPlace, act: () => Promise<void>, times: Partial<WatchTimes> = {}): Promise<number> {
  const stop = new AbortController()
  let rounds = 0
  const done = watchSources({
    sources: () => place.request.sources,
    sync: async (sources) => {
      rounds++
      await runSync({ ...place.request, sources, isPatient: true }, place.context)
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
    { sweepMs: 200, pollMs: 50 },
  )
})

test("nothing happens while nothing happens", async () => {
  using place = syncPlace()
  place.write(SESSION, [userLine(SESSION, 1, "one")])
  const rounds = await watching(place, async () => {
    await until("the line is there", holds(place, SESSION, "one"))
    const before = process.cpuUsage()
    await Bun.sleep(400)
    const used = process.cpuUsage(before)
    expect(used.user + used.system).toBeLessThan(200_000)
  })
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
      return Promise.resolve()
    },
    signal: stop.signal,
    clock: systemClock,
    log: silentLog,
    times: { settleMs: 0, apartMs: 0, sweepMs: 3_600_000 },
  })
  expect(rounds).toBe(1)
})
