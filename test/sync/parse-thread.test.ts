import { expect, test } from "bun:test"
import { join } from "node:path"
import fc from "fast-check"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { equalJson } from "../../src/model/json.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { prepare } from "../../src/sessions/write/prepare.ts"
import { readUnit } from "../../src/sync/import.ts"
import { planRoot } from "../../src/sync/plan/plan-root.ts"
import type { Stretches } from "../../src/sync/read/hydrate.ts"
import { createParseThread } from "../../src/sync/read/parse-in-thread.ts"
import { createResumePoints } from "../../src/sync/read/resume-points.ts"
import { fromTransfer, toTransfer } from "../../src/sync/read/transferred-batch.ts"
import { openSyncState, type SyncState } from "../../src/sync/state/sync-state.ts"
import { createStoredRows } from "../../src/sync/store/skip-stored.ts"
import { withState } from "../../src/sync/sync.ts"
import { anyLog } from "../sessions/arbitrary.ts"
import { SESSION, type SyncPlace, sessionId, syncPlace, userLine } from "./support.ts"

const FACTS = { ingestedAtMicros: 7n, host: "here" }
const NOTHING_STORED = {
  facts: () => Promise.resolve(FACTS),
  resumes: { of: () => Promise.resolve(undefined) },
}
const NO_THREAD = { read: () => Promise.resolve(undefined) }
const BIG = 75_000

function fill(place: SyncPlace): void {
  for (let session = 1; session <= 20; session++) {
    const lines = [1, 2, 3].map((line) =>
      userLine(sessionId(session), line, `${"so ".repeat(BIG / 3)}${session} ${line}`),
    )
    place.write(sessionId(session), [...lines, "no JSON at all", '{"type":"summary","leafUuid":"x","n":1.10}'])
  }
}

/** The state of a sync that remembers nothing yet. */
function nothingKnown(place: SyncPlace): SyncState {
  return openSyncState({ path: join(place.state, "nothing"), log: silentLog, storeMark: () => undefined })
}

async function readAll(stretches: Stretches | undefined) {
  if (stretches === undefined) return undefined
  const read: unknown[] = []
  for (;;) {
    const { done, value } = await stretches.next()
    read.push(value)
    if (done) return read
  }
}

test("what is parsed beside is what one thread would have made, unit by unit", async () => {
  using place = syncPlace()
  fill(place)
  const state = nothingKnown(place)
  const plan = await planRoot(claudeCode, place.root, state, { isFull: true })
  state.close()
  const beside = createParseThread()
  try {
    await beside.expect(claudeCode, plan.units, 0)
    for (const planned of plan.units) {
      const there = await readAll((await beside.read(planned, NOTHING_STORED))?.stretches)
      const sessions = { ...place.sessions, facts: () => FACTS }
      const here = await readAll(
        readUnit(claudeCode, planned, {
          sessions: () => Promise.resolve(sessions),
          thread: NO_THREAD,
          resumes: NOTHING_STORED.resumes,
          stored: createStoredRows([], {
            presence: () => Promise.resolve(sessions.presence()),
            firstUnits: new Map(),
            settled: () => Promise.resolve(),
            pathsOf: () => [],
          }),
          nowMs: 0,
        }),
      )
      expect(there).toEqual(here)
      expect(here?.length).toBeGreaterThan(1)
    }
    expect(plan.units.length).toBe(20)
  } finally {
    await beside.close()
  }
})

test("a long log that is gone on with is parsed beside, as one thread would have gone on with it", async () => {
  using place = syncPlace()
  const lines = Array.from({ length: 100 }, (_, at) => userLine(SESSION, at, `${"so ".repeat(BIG / 3)}${at}`))
  place.write(SESSION, lines)
  const stop = new AbortController()
  const onProgress = () => stop.abort()
  expect(await place.sync({}, { signal: stop.signal, onProgress })).toMatchObject({ sessions: { new: 1 } })

  const sessions = { ...place.sessions, facts: () => FACTS }
  const context = { ...place.context, sessions: () => Promise.resolve(sessions) }
  const beside = createParseThread()
  try {
    await withState(context, async (state) => {
      const plan = await planRoot(claudeCode, place.root, state, { isFull: false })
      const [planned] = plan.units
      if (planned === undefined) throw new Error("there is nothing to go on with")
      expect(planned).toMatchObject({ change: "grown" })
      const resumes = createResumePoints(plan.units, () => Promise.resolve(sessions.presence()))
      await beside.expect(claudeCode, plan.units, 0)
      const there = await beside.read(planned, { ...NOTHING_STORED, resumes })
      expect(there?.resume).toBeDefined()
      const nothing = { of: () => Promise.resolve(undefined), twin: () => Promise.resolve(undefined) }
      const here = readUnit(claudeCode, planned, { ...context, thread: NO_THREAD, resumes, stored: nothing, nowMs: 0 })
      const read = await readAll(here)
      expect(await readAll(there?.stretches)).toEqual(read)
      expect(read?.length).toBeGreaterThan(2)
    })
  } finally {
    await beside.close()
  }
  expect(await place.sync()).toMatchObject({ sessions: { grown: 1 } })
  expect(await place.texts(SESSION)).toHaveLength(lines.length)
})

test("little is parsed where it is, and so is the little that many grew by", async () => {
  using place = syncPlace()
  fill(place)
  const state = nothingKnown(place)
  const plan = await planRoot(claudeCode, place.root, state, { isFull: true })
  state.close()
  const beside = createParseThread()
  const isBeside = async (units: typeof plan.units) => {
    await beside.expect(claudeCode, units, 0)
    const [first] = units
    return first !== undefined && (await beside.read(first, NOTHING_STORED)) !== undefined
  }
  expect(await isBeside(plan.units.slice(0, 2))).toBe(false)
  expect(await isBeside(plan.units.map((planned) => ({ ...planned, change: "grown" as const })))).toBe(false)
  expect(await isBeside(plan.units)).toBe(true)
  await beside.close()
})

test("any session comes out of the other thread as it went in", () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const prepared = prepare(log, FACTS)
      const { batch, moved } = toTransfer(prepare(log, { ingestedAtMicros: 0n, host: "" }))
      const { session, ...rows } = fromTransfer(
        structuredClone(batch, { transfer: [...moved] as ArrayBuffer[] }),
        FACTS,
      )
      const { session: _, ...wanted } = prepared
      expect(rows).toEqual(wanted)
      expect(moved.every((buffer) => buffer.byteLength === 0)).toBe(true)
      expect(equalJson(session as never, log.session as never)).toBe(true)
    }),
    { seed: 11, numRuns: 200 },
  )
})
