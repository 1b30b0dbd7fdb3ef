/**
 * Sessions by number, for storms: what number 17 holds is the same in every process, so that several can write parts of it
 * and a judge knows what must be there. The judge reads a store back whole and says what was lost, doubled or left half.
 */
import { differingPointer, type JsonValue } from "../../src/model/json.ts"
import type { Entry, Part, Session } from "../../src/model/session.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { type Log, silentLog } from "../../src/platform/host/log.ts"
import { systemRandom } from "../../src/platform/host/random.ts"
import { openSessions, type Sessions } from "../../src/sessions/store.ts"
import type { SessionBatch } from "../../src/sessions/write/prepare.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"

const MOMENT = "2026-01-31T12:00:00.000Z"
const MESSAGES_MAX = 12

export function openChaosStore(url: string, log: Log = silentLog): Sessions {
  const location = parseLocation(url, { environment: process.env })
  const store = openStore(location, { clock: systemClock, random: systemRandom, log })
  return openSessions(store, { clock: systemClock, host: "chaos" })
}

/** How many messages a session has in the end. */
export function lengthOf(number: number): number {
  return 1 + ((number * 7) % MESSAGES_MAX)
}

/** The session up to a message: what its client had written by then. */
export function sessionBatch(number: number, messages: number): SessionBatch {
  return { session: sessionOf(number), entries: entriesOf(number).slice(0, messages) }
}

function sessionOf(number: number): Session {
  const id = `session-${number}`
  return {
    id,
    source_agent: "chaos",
    created_at: MOMENT,
    project: `/work/${number % 5}`,
    title: `${number}`,
    options: {},
  }
}

function entriesOf(number: number): Entry[] {
  return Array.from({ length: lengthOf(number) }, (_, ordinal) => {
    const [session_id, id] = [`session-${number}`, `${number}-${ordinal}`]
    const message = { id, session_id, ordinal, timestamp: MOMENT, options: { at: ordinal }, role: "user" as const }
    const common = { session_id, message_id: id, provenance: "conversational" as const, options: {} }
    const text: Part = { ...common, id: `${id}:0`, type: "text", text: `what ${number} said at ${ordinal} \u{1F600}` }
    const picture: Part = {
      ...common,
      id: `${id}:1`,
      type: "file",
      media_type: "image/png",
      data: { base64: Buffer.alloc(3000, `${number % 20}`).toString("base64") },
    }
    return { message, parts: ordinal % 4 === 0 ? [text, picture] : [text] } as Entry
  })
}

export interface Judgement {
  readonly sessions: number
  readonly messages: number
  /** Empty where nothing was lost, doubled or left half. */
  readonly faults: readonly string[]
}

/** `stored` says of each session how many of its messages were acknowledged: as many must be there. */
export async function judge(store: Sessions, stored: ReadonlyMap<number, number>): Promise<Judgement> {
  const { tables } = store
  const faults: string[] = []
  const [sessions, messages, parts, blobs] = await Promise.all([
    tables.sessions.read({ columns: ["id"] }),
    tables.messages.read({ columns: ["session_id", "id"] }),
    tables.parts.read({ columns: ["session_id", "message_id", "id"] }),
    tables.blobs.read({ columns: ["sha256"] }),
  ])
  for (const [table, rows] of Object.entries({ sessions, messages, parts, blobs })) {
    const doubled = rows.length - new Set(rows.map((row) => JSON.stringify(row))).size
    if (doubled > 0) faults.push(`${doubled} rows of ${table} are doubled`)
  }
  const there = new Set(sessions.map(({ id }) => id))
  for (const number of stored.keys()) if (!there.has(`session-${number}`)) faults.push(`session ${number} is lost`)
  for (const { id } of sessions) {
    const number = Number(id.slice("session-".length))
    const log = await store.log(id)
    const fault = faultOf(number, log.entries, stored.get(number) ?? 0)
    if (fault !== undefined) faults.push(fault)
  }
  return { sessions: sessions.length, messages: messages.length, faults }
}

/** Whole messages with all their parts, from the first one on, and at least those that were acknowledged. */
function faultOf(number: number, entries: readonly Entry[], acknowledged: number): string | undefined {
  if (entries.length < acknowledged) return `session ${number} has ${entries.length} messages of ${acknowledged}`
  const want = entriesOf(number).slice(0, entries.length)
  const pointer = differingPointer(want as unknown as JsonValue, entries as unknown as JsonValue)
  return pointer === undefined ? undefined : `session ${number} differs at ${pointer}`
}
