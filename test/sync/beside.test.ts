import { expect, test } from "bun:test"
import { join } from "node:path"
import fc from "fast-check"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { equalJson } from "../../src/model/json.ts"
import { silentLog } from "../../src/platform/log.ts"
import { prepare } from "../../src/sessions/prepare.ts"
import { carried, received } from "../../src/sync/carried.ts"
import type { PreparedStretches } from "../../src/sync/hydrate.ts"
import { createStoredRows } from "../../src/sync/only-changed.ts"
import { createParseBeside } from "../../src/sync/parse-beside.ts"
import { planRoot } from "../../src/sync/plan.ts"
import { openSyncState, type SyncState } from "../../src/sync/state.ts"
import { createStoredBefore } from "../../src/sync/stored-before.ts"
import { preparedStretches } from "../../src/sync/stretches.ts"
import { anyLog } from "../sessions/arbitrary.ts"
import { type SyncPlace, sessionId, syncPlace, userLine } from "./support.ts"

const FACTS = { ingestedAtMicros: 7n, host: "here" }
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

async function readAll(stretches: PreparedStretches | undefined) {
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
  const beside = createParseBeside()
  try {
    await beside.expect(claudeCode, plan.units, 0)
    for (const planned of plan.units) {
      const there = await readAll(beside.stretches(planned, () => Promise.resolve(FACTS)))
      const sessions = { ...place.sessions, facts: () => FACTS }
      const here = await readAll(
        preparedStretches(claudeCode, planned, {
          sessions: () => Promise.resolve(sessions),
          resumes: { of: () => Promise.resolve(undefined) },
          stored: createStoredRows([], {
            before: createStoredBefore(() => Promise.resolve(sessions)),
            sessions: () => Promise.resolve(sessions),
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
    beside.close()
  }
})

test("little is parsed where it is, and so is what the store has to be asked for", async () => {
  using place = syncPlace()
  fill(place)
  const state = nothingKnown(place)
  const plan = await planRoot(claudeCode, place.root, state, { isFull: true })
  state.close()
  const beside = createParseBeside()
  const isBeside = async (units: typeof plan.units) => {
    await beside.expect(claudeCode, units, 0)
    const [first] = units
    return first !== undefined && beside.stretches(first, () => Promise.resolve(FACTS)) !== undefined
  }
  expect(await isBeside(plan.units.slice(0, 2))).toBe(false)
  expect(await isBeside(plan.units.map((planned) => ({ ...planned, change: "grown" as const })))).toBe(false)
  expect(await isBeside(plan.units)).toBe(true)
  beside.close()
})

test("any session comes out of the other thread as it went in", () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const prepared = prepare(log, FACTS)
      const { batch, moved } = carried(prepare(log, { ingestedAtMicros: 0n, host: "" }))
      const { session, ...rows } = received(structuredClone(batch, { transfer: [...moved] as ArrayBuffer[] }), FACTS)
      const { session: _, ...wanted } = prepared
      expect(rows).toEqual(wanted)
      expect(moved.every((buffer) => buffer.byteLength === 0)).toBe(true)
      expect(equalJson(session as never, log.session as never)).toBe(true)
    }),
    { seed: 11, numRuns: 200 },
  )
})
