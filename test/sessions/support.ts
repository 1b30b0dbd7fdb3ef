/** A store of sessions in a directory of its own. */
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

export interface TestSessions extends Disposable {
  readonly path: string
  readonly sessions: Sessions
  /** The same store as another process would see it. */
  open(lifetime?: Lifetime): Sessions
}

export function testSessions(): TestSessions {
  const path = mkdtempSync(join(tmpdir(), "pond-sessions-"))
  const opened: Sessions[] = []
  const open = (lifetime: Lifetime = "command") => {
    const store = openStore(parseLocation(path, { environment: {} }), {
      log: silentLog,
      clock: systemClock,
      random: seededRandom(1),
    })
    const sessions = openSessions(store, { clock: systemClock, host: "test", lifetime })
    opened.push(sessions)
    return sessions
  }
  return {
    path,
    sessions: open(),
    open,
    [Symbol.dispose]: () => {
      for (const sessions of opened) sessions.close()
      rmSync(path, { recursive: true, force: true })
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
