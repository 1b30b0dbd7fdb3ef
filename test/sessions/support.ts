/** Stores of sessions for tests: over Lance in a separate directory, or in memory. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Entry, Session } from "../../src/model/session.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import type { Lifetime } from "../../src/platform/host/host.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { openSessions, type Sessions } from "../../src/sessions/store.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import type { Store } from "../../src/substrate/table.ts"
import { createMemoryDisk } from "../support/memory-disk.ts"
import { openMemoryStore } from "../support/memory-store.ts"

export interface MemorySessions extends Disposable {
  readonly sessions: Sessions
  /** The same store as another process would see it. */
  open(lifetime?: Lifetime): Sessions
}

export interface TestSessions extends MemorySessions {
  readonly path: string
}

export function testSessions(): TestSessions {
  const path = mkdtempSync(join(tmpdir(), "pond-sessions-"))
  const context = { log: silentLog, clock: systemClock, random: seededRandom(1) }
  return withFolder(
    path,
    sessionsOver(() => openStore(parseLocation(path, { environment: {} }), context)),
  )
}

/** In memory, with a directory for what a test writes besides. */
export function memorySessionsAt(): TestSessions {
  return withFolder(mkdtempSync(join(tmpdir(), "pond-sessions-")), memorySessions())
}

function withFolder(path: string, handles: MemorySessions): TestSessions {
  return {
    path,
    sessions: handles.sessions,
    open: handles.open,
    [Symbol.dispose]: () => {
      handles[Symbol.dispose]()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** The same over a store in memory, for what is not about Lance: three to twenty times as fast. */
export function memorySessions(): MemorySessions {
  const disk = createMemoryDisk()
  return sessionsOver(() => openMemoryStore(disk))
}

function sessionsOver(openStoreAgain: () => Store): MemorySessions {
  const opened: Sessions[] = []
  const open = (lifetime: Lifetime = "command") => {
    const sessions = openSessions(openStoreAgain(), { clock: systemClock, host: "test", lifetime })
    opened.push(sessions)
    return sessions
  }
  return {
    sessions: open(),
    open,
    [Symbol.dispose]: () => {
      for (const sessions of opened) sessions.close()
    },
  }
}

export const MOMENT = "2026-01-31T12:00:00.000Z"

export function session(id: string, fields: Partial<Session> = {}): Session {
  return { id, source_agent: "test-client", created_at: MOMENT, project: "/home/someone/work", options: {}, ...fields }
}

export function said(
  sessionId: string,
  ordinal: number,
  text: string,
  fields: { readonly id?: string; readonly role?: "user" | "assistant"; readonly timestamp?: string } = {},
): Entry {
  const id = fields.id ?? `m${ordinal}`
  return {
    message: {
      id,
      session_id: sessionId,
      ordinal,
      timestamp: fields.timestamp ?? MOMENT,
      options: {},
      role: (fields.role ?? "user") as "user",
    },
    parts: [
      {
        id: `${id}:0`,
        session_id: sessionId,
        message_id: id,
        provenance: "conversational",
        options: {},
        type: "text",
        text,
      },
    ],
  }
}
