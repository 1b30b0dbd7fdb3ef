/**
 * From the files of the clients into a store, from there through an archive into an empty store, and out of that one:
 * what would be restored is what lies in the files, record for record.
 */
import { afterAll, expect, test } from "bun:test"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { verify } from "../../src/restore/verify.ts"
import { heldPassage } from "../../src/restore/verify-passage.ts"
import { runSync } from "../../src/sync/sync.ts"
import { memorySessions } from "../sessions/support.ts"
import { exported, imported, place } from "./support.ts"

/** Another state of a session that another fixture has: no store holds both. */
const OTHER_STATES = ["v1-client-upgraded", "v2-upgraded", "handed-over", "odd-numbers", "action"]
const FIXTURES = join(import.meta.dir, "../../fixtures")
const here = place()
afterAll(() => here[Symbol.dispose]())

const signal = new AbortController().signal
const HOUR_MS = 60 * 60 * 1000
/** Files of a fresh clone were written just now, and a sync waits for the rest of a last line that is not ended. */
const later = { ...systemClock, nowMs: () => systemClock.nowMs() + HOUR_MS }

for (const adapter of ADAPTERS) {
  test(`${adapter.id}: what was exported and imported gives back every record of the files`, async () => {
    const folder = join(FIXTURES, adapter.id)
    const names = readdirSync(folder).filter((name) => !OTHER_STATES.includes(name))
    const roots = names.map((name) => join(folder, name, "root"))
    const sources = roots.filter(existsSync).map((root) => ({ adapter, root }))
    using from = memorySessions()
    using to = memorySessions()
    const [source, target] = [from.sessions, to.sessions]
    await runSync(
      { sources, stages: ["import"], isFull: false, isPatient: false },
      {
        storeName: adapter.id,
        stateDirectory: here.file(`${adapter.id}-state`),
        storeMark: () => undefined,
        sessions: () => Promise.resolve(source),
        clock: later,
        log: silentLog,
        signal,
      },
    )
    await exported(source, here.file(`${adapter.id}.pond`))
    await imported(target, here.file(`${adapter.id}.pond`))
    const reports = await verify(
      { sources, openPassage: () => Promise.resolve(heldPassage(target)) },
      { clock: systemClock, signal },
    )
    expect(reports.length).toBe(sources.length)
    for (const { path, sessions, records, missing, mismatches } of reports) {
      expect({ path, missing, mismatches }).toEqual({ path, missing: [], mismatches: [] })
      expect([sessions > 0, records > 0]).toEqual([true, true])
    }
  })
}
