/**
 * Talk for a large store, from a seed: each session is made from its number alone, so that a store can be filled in
 * several goes. Words are as frequent as words are (the second half as often as the first, and so on), and there are as
 * many of them as a large archive has, because both decide what a search costs.
 */
import type { Entry } from "../../src/model/session.ts"
import { type Random, seededRandom } from "../../src/platform/host/random.ts"
import type { SessionBatch } from "../../src/sessions/write/prepare.ts"

export interface Talk {
  readonly messagesPerSession: number
  session(number: number): SessionBatch
  word(at: number): string
  words(at: number, count: number): string
  /** Three words as they stand in some message. */
  phrase(at: number): string
  identifier(at: number): string
  project(at: number): string
  month(at: number): { readonly from_date: string; readonly to_date: string }
}

const VOCABULARY = 300_000
const PER_SESSION = 100
const PROJECTS = 60
const START_MS = Date.UTC(2025, 0, 1)
const SESSION_MS = 3_000_000
const SYLLABLES =
  "ba co di fu ge lo mi na pe ra si tu va wo xe zi ker lan mor tis und ver able tion ment pre con al en or qui sta".split(
    " ",
  )

export function createTalk(seed: number): Talk {
  const random = seededRandom(seed)
  const vocabulary = Array.from({ length: VOCABULARY }, (_, rank) => wordOf(random, rank))
  const word = (own: Random) => vocabulary[Math.floor(Math.exp(own.next() * Math.log(VOCABULARY))) - 1] ?? "pond"
  const prose = (own: Random, count: number) => Array.from({ length: count }, () => word(own)).join(" ")
  const identifier = (own: Random) => {
    const [one, two] = [word(own), word(own)]
    return `${one}${two.slice(0, 1).toUpperCase()}${two.slice(1)}`
  }
  const queries = (at: number) => seededRandom(seed + 1_000_003 * (at + 1))
  const session = (number: number) => sessionOf(number, { own: seededRandom(seed * 7_919 + number), prose, identifier })
  return {
    messagesPerSession: PER_SESSION,
    session,
    word: (at) => word(queries(at)),
    words: (at, count) => prose(queries(at), count),
    phrase: (at) => {
      const [part] = session(at).entries[0]?.parts ?? []
      return part?.type === "text" ? part.text.split(" ").slice(1, 4).join(" ") : "pond"
    },
    identifier: (at) => identifier(queries(at)),
    project: (at) => `project-${at % PROJECTS}`,
    month: (at) => {
      const month = String(1 + (at % 12)).padStart(2, "0")
      return { from_date: `2025-${month}-01`, to_date: `2025-${month}-28` }
    },
  }
}

export function batchesOf(talk: Talk, from: number, to: number): SessionBatch[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => talk.session(from + index))
}

const SYLLABLE_COUNTS = [
  [1, 300],
  [2, 20_000],
  [3, VOCABULARY],
] as const
const ROLES = ["user", "assistant", "tool", "assistant"] as const
/** As many words as people and models use on average. */
const WORDS_MEAN = { user: 30, assistant: 90, tool: 90 } as const

/** Frequent words are short. */
function wordOf(random: Random, rank: number): string {
  const [least] = SYLLABLE_COUNTS.find(([, below]) => rank < below) ?? [3]
  const syllables = least + (least > 1 ? Math.floor(random.next() * least) : 0)
  return Array.from({ length: syllables }, () => SYLLABLES[Math.floor(random.next() * SYLLABLES.length)]).join("")
}

interface Speaker {
  readonly own: Random
  readonly prose: (own: Random, count: number) => string
  readonly identifier: (own: Random) => string
}

function sessionOf(number: number, { own, prose, identifier }: Speaker): SessionBatch {
  const id = `session-${String(number).padStart(6, "0")}`
  const startMs = START_MS + number * SESSION_MS
  const entries = Array.from({ length: PER_SESSION }, (_, ordinal): Entry => {
    const role = ROLES[ordinal % ROLES.length] ?? "user"
    const message = {
      id: `${id}-${ordinal}`,
      session_id: id,
      ordinal,
      role,
      options: {},
      timestamp: new Date(startMs + ordinal * 20_000).toISOString(),
    }
    const common = { id: "p", session_id: id, message_id: message.id, options: {} }
    const words = 5 + Math.floor(-Math.log(1 - own.next()) * WORDS_MEAN[role])
    const text = `${prose(own, Math.min(900, words))}${own.next() < 0.3 ? ` ${identifier(own)}` : ""}`
    const part =
      role === "tool"
        ? { ...common, provenance: "injected", type: "tool_result", call_id: "c", is_failure: false, result: text }
        : { ...common, provenance: "conversational", type: "text", text }
    return { message, parts: [part] } as unknown as Entry
  })
  const session = {
    id,
    source_agent: number % 3 === 0 ? "codex" : "claude-code",
    created_at: new Date(startMs).toISOString(),
    project: `/home/someone/work/project-${number % PROJECTS}`,
    options: {},
  }
  return { session, entries }
}
