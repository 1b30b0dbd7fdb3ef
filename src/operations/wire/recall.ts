/**
 * Recall what earlier sessions said that a prompt needs: what the hooks of clients add to a prompt. Nothing where nothing
 * is relevant, and never what the model has before it already: the running session, what it was forked from, its forks.
 *
 * Nobody asked for it, so it is stricter than a search. Credentials are taken out, and sessions that came from elsewhere
 * (an export file, another store, the wire) are left out: their text would speak to a model without a person between.
 */
import { type Static, Type } from "typebox"
import { textOfMicros } from "../../model/timestamp.ts"
import type { Host } from "../../platform/host/host.ts"
import { findRelevant } from "../../search/recall/recall.ts"
import type { Sessions } from "../../sessions/store.ts"
import { excludesOf } from "../../sessions/write/exclusions.ts"
import { text, texts } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { createRedactor } from "../share/redact.ts"
import { shortIds } from "../store/session-ids.ts"
import { titleText } from "./views.ts"

const PASSAGES_MAX = 3
/** More are asked for, because some are of the running session's relatives or from elsewhere. */
const ASKED = 8
const TOKENS_DEFAULT = 400
/** A passage whose beginning does not fit is left out. */
const TOKENS_MIN = 30
/** Relatives of a session: more are no lineage but a fault of the data. */
const RELATIVES_MAX = 200

const Passage = closedObject({
  message_id: Type.String(),
  short_id: Type.String({ description: "The beginning of the message's id, which `get` takes." }),
  session_id: Type.String(),
  project: Type.String(),
  source_agent: Type.String(),
  title: Type.Optional(Type.String()),
  role: Type.String(),
  timestamp: Type.String(),
  text: Type.String({ description: "Up to three sentences, without credentials." }),
  truncated: Type.Boolean(),
  score: Type.Number({ description: "The weight of the words that the prompt and the passage share." }),
  shared: Type.Array(Type.String(), { description: "Those words and pairs of words, as stems." }),
})
export type RecalledPassage = Static<typeof Passage>

export const recall = defineOperation({
  name: "recall",
  summary: "Recall what earlier sessions said that a prompt needs; nothing where nothing is relevant.",
  input: closedObject({
    prompt: Type.String({ maxLength: 1_000_000, description: "What the person asked for." }),
    near: Type.String({
      minLength: 1,
      description: "The directory that the session works in: its project comes first.",
    }),
    session_id: text("The running session: it, what it was forked from and its forks are left out."),
    without: texts("Leave out this message, which the session was told already."),
    tokens: Type.Optional(
      Type.Integer({
        minimum: TOKENS_MIN,
        maximum: 10_000,
        default: TOKENS_DEFAULT,
        description: "The room for all passages, in tokens.",
      }),
    ),
  }),
  output: closedObject({ passages: Type.Array(Passage) }),
  errors: [],
  surfaces: { http: true },
  read: true,
  run: async ({ pond, signal }, { prompt, near, session_id, without = [], tokens = TOKENS_DEFAULT }) => {
    const sessions = await pond.sessions()
    const { relatives, isStored } = await relativesOf(sessions, session_id)
    signal.throwIfAborted()
    const found = await findRelevant(sessions, {
      prompt,
      near,
      withoutSessions: relatives,
      withoutMessages: without,
      limit: ASKED,
    })
    if (found.length === 0) return { passages: [] }
    const arrived = await sessions.origins.of([...new Set(found.map(({ hit }) => hit.sessionId))])
    const own = found.filter(({ hit }) => !arrived.has(hit.sessionId))
    const ids = isStored ? own.map(({ hit }) => hit.messageId) : []
    const known = await knownMessages(sessions, ids, relatives)
    const kept = own.filter(({ hit }) => !known.has(hit.messageId)).slice(0, PASSAGES_MAX)
    const redactor = createRedactor(pond.host.environment)
    const [facts, short] = await Promise.all([
      sessions.answers.sessions(kept.map(({ hit }) => hit.sessionId)),
      shortIds(
        sessions,
        "messages",
        kept.map(({ hit }) => hit.messageId),
      ),
    ])
    const bySession = new Map(facts.map((row) => [row.id, row]))
    let room = tokens
    const passages = kept.flatMap(({ hit, passage, project }) => {
      const fitting = cutToRoom(redactor.clean(passage.text), room)
      if (fitting === undefined) return []
      room -= tokensOf(fitting.text)
      const { source_agent = "", title } = bySession.get(hit.sessionId) ?? {}
      const shownTitle = titleText(title ?? undefined)
      return {
        message_id: hit.messageId,
        short_id: short.get(hit.messageId) ?? hit.messageId,
        session_id: hit.sessionId,
        project,
        source_agent,
        ...(shownTitle === undefined ? {} : { title: redactor.clean(shownTitle) }),
        role: hit.role,
        timestamp: textOfMicros(hit.timestampMicros),
        ...fitting,
        score: passage.score,
        shared: [...passage.shared],
      }
    })
    return { passages }
  },
})

/** By the settings, for a session that works in this directory. A project that is not stored is not recalled in either. */
export function isRecallOn(host: Host, directory: string): boolean {
  const { recall: settings, projects } = host.settings().values
  return settings.enabled && !excludesOf([...settings.excluded, ...projects.excluded])(directory)
}

/** A rough count that no tokenizer of today exceeds for prose: three ASCII characters, or one of any other script. */
export function tokensOf(prose: string): number {
  let count = 0
  for (let at = 0; at < prose.length; at++) count += prose.charCodeAt(at) < 0x80 ? 1 / 3 : 1
  return Math.ceil(count)
}

export function cutToRoom(
  passage: string,
  room: number,
): { readonly text: string; readonly truncated: boolean } | undefined {
  if (room < TOKENS_MIN) return undefined
  if (tokensOf(passage) <= room) return { text: passage, truncated: false }
  let end = Math.min(passage.length, room * 3)
  while (end > 0 && tokensOf(passage.slice(0, end)) > room) end -= 10
  return { text: passage.slice(0, Math.max(0, end)).toWellFormed(), truncated: true }
}

interface Relatives {
  readonly relatives: readonly string[]
  /** One of them has messages here, copies of which the running session may have. */
  readonly isStored: boolean
}

/** What the running session has in its context, or will: itself, its ancestors, their copies, its forks and agents. */
async function relativesOf(sessions: Sessions, id: string | undefined): Promise<Relatives> {
  if (id === undefined) return { relatives: [], isStored: false }
  const conversations = await sessions.conversations()
  const found = new Set<string>()
  const waiting = [id]
  let isStored = false
  for (let next = waiting.pop(); next !== undefined && found.size < RELATIVES_MAX; next = waiting.pop()) {
    for (const member of conversations.membersOf(next)) found.add(member)
    const [session] = await sessions.sessions([next])
    isStored ||= session !== undefined
    const parent = session?.parent_session_id
    if (parent !== undefined && !found.has(parent)) waiting.push(parent)
  }
  const forks = await Promise.all([...conversations.membersOf(id)].map((each) => sessions.children(each)))
  for (const fork of forks.flat()) found.add(fork.id)
  return { relatives: [...found], isStored }
}

/** A client that forks by copying keeps the ids of messages: what a relative has under the same id is known there. */
async function knownMessages(
  sessions: Sessions,
  ids: readonly string[],
  relatives: readonly string[],
): Promise<ReadonlySet<string>> {
  const known = new Set<string>()
  for (const id of ids) {
    const entries = await sessions.messages(id)
    if (entries.some(({ message }) => relatives.includes(message.session_id))) known.add(id)
  }
  return known
}
