/** A home with sessions of one client, a store, and syncs between them. The client is Claude Code: one log per session. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { openSessions, type Sessions } from "../../src/sessions/store.ts"
import { type Location, parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { planSync, runSync, type SyncContext, type SyncReport, type SyncRequest } from "../../src/sync/sync.ts"
import { openMemoryStore } from "../support/memory-store.ts"

export interface SyncPlace extends Disposable {
  readonly root: string
  readonly state: string
  readonly sessions: Sessions
  readonly context: SyncContext
  readonly request: SyncRequest
  /** Long ago, so that a last line without its line feed counts as settled. */
  write(
    session: string,
    lines: readonly string[],
    options?: { readonly unended?: boolean; readonly isFresh?: boolean },
  ): string
  append(session: string, text: string): void
  sync(request?: Partial<SyncRequest>, surroundings?: Partial<SyncContext>): Promise<SyncReport["adapters"][number]>
  plan(): Promise<{ readonly change: string; readonly bytes: number }[]>
  texts(session: string): Promise<string[]>
}

const PROJECT = "-home-someone-work"

interface SyncPlaceOptions {
  /** Of a store that others have too. */
  readonly location?: Location
  /** In memory unless this is said, or where the store lies. */
  readonly store?: "lance"
  readonly host?: string
}

/** A separate machine, with a store in memory, on its disk, or where it is named. */
export function syncPlace({ location, store: kind, host = "test" }: SyncPlaceOptions = {}): SyncPlace {
  const base = mkdtempSync(join(tmpdir(), "pond-sync-"))
  const [root, state] = [join(base, "claude"), join(base, "state")]
  mkdirSync(join(root, "projects", PROJECT), { recursive: true })
  const lance = () =>
    openStore(location ?? parseLocation(join(base, "store"), { environment: {} }), {
      log: silentLog,
      clock: systemClock,
      random: seededRandom(1),
    })
  const isInMemory = location === undefined && kind === undefined
  const sessions = openSessions(isInMemory ? openMemoryStore() : lance(), { clock: systemClock, host })
  const context: SyncContext = {
    storeName: "test",
    stateDirectory: state,
    storeMark: () => undefined,
    sessions: () => Promise.resolve(sessions),
    clock: systemClock,
    log: silentLog,
    signal: new AbortController().signal,
  }
  const request: SyncRequest = {
    sources: [{ adapter: claudeCode, root }],
    stages: ["import"],
    isFull: false,
    isPatient: false,
  }
  const fileOf = (session: string) => join(root, "projects", PROJECT, `${session}.jsonl`)
  return {
    root,
    state,
    sessions,
    context,
    request,
    write: (session, lines, options = {}) => {
      const path = fileOf(session)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, options.unended ? lines.join("\n") : lines.map((line) => `${line}\n`).join(""))
      if (options.isFresh !== true) utimesSync(path, 1_700_000_000, 1_700_000_000)
      return path
    },
    append: (session, text) => appendFileSync(fileOf(session), text),
    sync: async (changes = {}, surroundings = {}) => {
      const report = await runSync({ ...request, ...changes }, { ...context, ...surroundings })
      const [first] = report.adapters
      if (first === undefined) throw new Error("nothing was synced")
      return first
    },
    plan: async () => {
      const [plan] = await planSync(request, context)
      return (plan?.units ?? []).map((unit) => ({ change: unit.change, bytes: unit.bytesToRead }))
    },
    texts: async (session) => {
      const entries = await sessions.entries(session)
      return entries.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [part.text] : [])))
    },
    [Symbol.dispose]: () => {
      sessions.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

export const SESSION = "0a1b2c3d-0000-4000-8000-000000000001"

export function sessionId(number: number): string {
  return `0a1b2c3d-0000-4000-8000-${String(number).padStart(12, "0")}`
}

/** A line as the client writes it. */
export function userLine(session: string, number: number, text: string): string {
  const uuid = `00000000-0000-4000-9000-${String(number).padStart(12, "0")}`
  return JSON.stringify({
    type: "user",
    uuid,
    parentUuid: null,
    sessionId: session,
    timestamp: new Date(1_700_000_000_000 + number * 1000).toISOString(),
    cwd: "/home/someone/work",
    version: "2.1.0",
    message: { role: "user", content: text },
  })
}
