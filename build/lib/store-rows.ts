/** Rows of a store of any size, from their number alone: the same number gives the same row. Written by benches directly. */
import { type Random, seededRandom } from "../../src/platform/host/random.ts"
import type { MessageRow, PartRow, SessionRow } from "../../src/sessions/tables.ts"

export const SESSION_MESSAGES = 200

const WORDS = vocabulary(seededRandom(1))

function vocabulary(random: Random): string[] {
  return Array.from({ length: 20_000 }, () =>
    random
      .next()
      .toString(36)
      .slice(2, 4 + Math.floor(random.next() * 7)),
  )
}

function prose(at: number, words: number): string {
  const random = seededRandom(at)
  return Array.from({ length: words }, () => WORDS[Math.floor(random.next() ** 3 * WORDS.length)]).join(" ")
}

function uuid(of: string): string {
  const hex = new Bun.CryptoHasher("md5").update(of).digest("hex")
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

/** The session of a message, and the id of a session: what its rows are found by. */
export function sessionIdOf(session: number): string {
  return uuid(`session ${session}`)
}

export function sessionRow(session: number): SessionRow {
  const { source_agent, project, timestamp } = filterColumns(session * SESSION_MESSAGES)
  return {
    id: sessionIdOf(session),
    parent_session_id: null,
    parent_message_id: null,
    source_agent,
    created_at: timestamp,
    project,
    title: prose(session, 5),
    options: '{"source":{"version":"2.1.0"}}',
    ingested_at: START_US,
    host: "somewhere",
  }
}

const START_US = 1_700_000_000_000_000n
const ROLES = ["user", "assistant", "tool", "assistant"]

function filterColumns(at: number) {
  const session = Math.floor(at / SESSION_MESSAGES)
  return {
    session_id: sessionIdOf(session),
    role: ROLES[at % ROLES.length] ?? "user",
    source_agent: "claude-code",
    project: `/home/someone/work/project-${session % 40}`,
    timestamp: START_US + BigInt(at) * 1_000_000n,
    lane: "main",
  }
}

export function messageRow(at: number): MessageRow {
  return {
    ...filterColumns(at),
    id: uuid(`message ${at}`),
    ordinal: at % SESSION_MESSAGES,
    content: null,
    search_text: at % 3 === 2 ? null : prose(at, 20 + (at % 60)),
    search_terms: null,
    options: '{"source":{"version":"2.1.0","cwd":"/home/someone/work"}}',
    ingested_at: START_US,
    host: "somewhere",
  }
}

export function partRow(at: number): PartRow {
  const message = Math.floor(at / 2)
  return {
    ...filterColumns(message),
    message_id: uuid(`message ${message}`),
    id: `${uuid(`message ${message}`)}-${at % 2}`,
    ordinal: at % 2,
    message_ordinal: message % SESSION_MESSAGES,
    type: at % 2 === 0 ? "text" : "tool_call",
    provenance: "conversational",
    tool_name: at % 2 === 0 ? null : "Bash",
    call_id: at % 2 === 0 ? null : uuid(`call ${at}`),
    is_failure: null,
    text: at % 2 === 0 ? prose(at, 20 + (message % 60)) : null,
    variant_data: at % 2 === 0 ? "{}" : JSON.stringify({ input: { command: prose(at, 12) } }),
    options: "{}",
  }
}
