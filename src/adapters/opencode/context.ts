/**
 * The live conversation: what opencode would send to its model if the session went on now. What was undone is gone, what
 * was compacted is its summary and the tail that stays behind it, what the client cleared is what it puts in its place.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import { plain } from "../extract.ts"
import { revisionOf, sourceOf } from "../shared/native.ts"
import { fieldsOf } from "../source-value.ts"
import { byTime, type LiveSession, liveSession } from "./live-session.ts"
import { infoAt, type MessageView, partAt } from "./records.ts"
import { messageEntries, openRendering, type Render, rowEntries } from "./render-messages.ts"

export function context(log: SessionLog): readonly Entry[] {
  const live = liveSession(log)
  const render = openRendering(log)
  const said = compacted(reverted(live.messages, live.session)).flatMap((view) => messageEntries(view, render))
  const known = new Set(live.messages.map(({ id }) => id && plain(id)))
  const rows = sinceCompaction(revertedRows(live)).filter((row) => !known.has(String(row["id"])))
  return [...said, ...rows.flatMap((row) => rowEntries(row, render))]
}

export function contextOfPieces(): (piece: SessionLog) => readonly Entry[] | undefined {
  let render: Render | undefined
  let last: MessageView | undefined
  return (piece) => {
    if (!piece.entries.every(isOneOfRows)) return undefined
    const { session, messages } = liveSession(piece)
    const [first] = messages
    const isInOrder = first === undefined || last === undefined || byTime(last, first) < 0
    if (!isInOrder || isJsonObject(session["revert"] ?? null) || messages.some(isOfCompaction)) return undefined
    last = messages.at(-1) ?? last
    const rendering = render ?? openRendering(piece)
    render = rendering
    return messages.flatMap((view) => messageEntries(view, rendering))
  }
}

/** A message of a record that changes no other, and that no listing of the other kind is to be put beside. */
function isOneOfRows({ message }: Entry): boolean {
  const { of, table } = sourceOf(message)
  if (of !== undefined) return true
  const isPlain = table === "message" || table === "session" || table === "project"
  return isPlain && revisionOf(message) === undefined
}

function isOfCompaction(view: MessageView): boolean {
  return infoAt(view, "summary") === true || compactionOf(view) !== undefined
}

// --- What is left of the session ----------------------------------------------------------------------------------------

/** An undo holds until the next prompt, and then removes the message that it names and what came after. */
function reverted(messages: readonly MessageView[], session: LiveSession["session"]): readonly MessageView[] {
  const { messageID, partID } = fieldsOf(session["revert"])
  const start = messages.findIndex(({ id }) => id !== undefined && plain(id) === messageID)
  if (start < 0) return messages
  const kept = messages.slice(0, start)
  const bound = messages[start]
  const end = bound?.parts.findIndex(({ id }) => id !== undefined && plain(id) === partID) ?? -1
  // Inside a message: what stands before the part stays.
  if (bound === undefined || typeof partID !== "string") return kept
  return [...kept, end < 0 ? bound : { ...bound, parts: bound.parts.slice(0, end) }]
}

/** From the last finished compaction on: its prompt, its summary, the tail that it left alone, and what came after. */
function compacted(messages: readonly MessageView[]): readonly MessageView[] {
  const finished = new Set<JsonValue>()
  for (const view of messages) if (isFinishedSummary(view)) finished.add(infoAt(view, "parentID") ?? null)
  const prompt = messages.findLastIndex((view) => isPrompt(view, finished))
  const bound = messages[prompt]
  if (bound === undefined) return messages
  const tailId = compactionOf(bound)?.["tail_start_id"]
  const start =
    tailId === undefined ? prompt : messages.findLastIndex(({ id }, at) => at <= prompt && (id && plain(id)) === tailId)
  // A tail that is not there any more began before everything that is.
  return summaryFirst(messages.slice(Math.max(0, start)), bound, tailId)
}

/** The prompt and its summary come first, then the tail, which is older. */
function summaryFirst(
  messages: readonly MessageView[],
  bound: MessageView,
  tailId: JsonValue | undefined,
): readonly MessageView[] {
  const prompt = messages.indexOf(bound)
  const start = messages.findIndex(({ id }) => id !== undefined && plain(id) === tailId)
  const summary = messages.findIndex((view, at) => at > prompt && isSummaryOf(view, bound))
  if (start < 0 || start >= prompt || summary < 0) return messages
  return [...messages.slice(prompt, summary + 1), ...messages.slice(start, prompt), ...messages.slice(summary + 1)]
}

function isPrompt(view: MessageView, finished: ReadonlySet<JsonValue>): boolean {
  const isFinished = view.id !== undefined && finished.has(plain(view.id))
  return isFinished && infoAt(view, "role") === "user" && compactionOf(view) !== undefined
}

function isSummaryOf(view: MessageView, prompt: MessageView): boolean {
  return infoAt(view, "summary") === true && infoAt(view, "parentID") === (prompt.id && plain(prompt.id))
}

function isFinishedSummary(view: MessageView): boolean {
  return infoAt(view, "summary") === true && Boolean(infoAt(view, "finish")) && infoAt(view, "error") === undefined
}

function compactionOf(view: MessageView): ReturnType<typeof fieldsOf> | undefined {
  const part = view.parts.find(({ type }) => type === "compaction")
  return part === undefined ? undefined : fieldsOf(partAt(part))
}

/** Here the message that an undo names stays. */
function revertedRows({ rows, session }: LiveSession): LiveSession["rows"] {
  const { messageID } = fieldsOf(session["revert"])
  const bound = rows.findIndex((row) => row["id"] === messageID)
  return bound < 0 ? rows : rows.slice(0, bound + 1)
}

function sinceCompaction(rows: LiveSession["rows"]): LiveSession["rows"] {
  return rows.slice(
    Math.max(
      0,
      rows.findLastIndex((row) => row["type"] === "compaction"),
    ),
  )
}
