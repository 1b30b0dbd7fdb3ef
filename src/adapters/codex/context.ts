/**
 * What Codex would send to its model if the thread went on now: the items of its history in order, replaced by what the
 * last compaction left of them, without the turns that were rolled back. What the client says as its developer is no
 * part of the conversation: it is made anew.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Entry, Session, SessionLog } from "../../model/session.ts"
import type { RawRecord } from "../adapter.ts"
import { valueAt } from "../extract.ts"
import { createSessionWriter } from "../session-writer.ts"
import { noFile } from "../shared/folders.ts"
import { fromSource } from "../source-value.ts"
import { whole } from "../spot.ts"
import { itemMessages } from "./items.ts"
import { historyOf, type Step } from "./lineage.ts"

export function context(log: SessionLog, ancestors: readonly SessionLog[]): readonly Entry[] {
  let history: Entry[] = []
  for (const { record, entries } of historyOf(log, ancestors)) {
    if (record["type"] === "compacted") history = compacted(log.session, history, { record, entries })
    else history.push(...entries.filter(holdsSomething))
    const turns = rolledBack(record)
    if (turns > 0) history = withoutLastTurns(history, turns)
  }
  return history
}

function holdsSomething({ parts }: Entry): boolean {
  return parts.length > 0
}

// --- Compaction -------------------------------------------------------------------------------------------------------

/** Versions of before October 2025 left a summary alone, and kept what the user had said. */
function compacted(session: Session, history: readonly Entry[], { record, entries }: Step): Entry[] {
  const left = valueAt(record, "payload", "replacement_history")
  const [first] = entries
  if (first === undefined) return [...history]
  const itemsOf = (items: readonly JsonValue[]) => entriesOf(session, first, items)
  if (Array.isArray(left)) return itemsOf(left).map(markedSummary)
  const text = first.message.role === "system" ? first.message.content : ""
  const summary = { type: "message", role: "user", content: [{ type: "input_text", text }] }
  return [...history.filter(isUserTurn), ...itemsOf(text === "" ? [] : [summary]).map(asSummary)]
}

/** Items that stand in a list as messages, as if each had been a record. They are copied: the record stays whole. */
function entriesOf(session: Session, { message }: Entry, items: readonly JsonValue[]): Entry[] {
  const entries: Entry[] = []
  const nothing = () => undefined
  const sink = { session: nothing, issue: nothing, entry: (entry: Entry) => entries.push(entry) }
  const file = noFile("log")
  const resume = { session, nextOrdinal: message.ordinal, seen: new Set<string>(), state: null }
  const writer = createSessionWriter(file, sink, resume)
  for (const [index, item] of items.entries()) {
    const text = stringifyJson(item)
    const copy = parseJson(text)
    if (!copy.ok) continue
    const raw: RawRecord = { form: "log", file, line: index + 1, text }
    const [first, ...rest] = itemMessages(whole(fromSource(copy.value)))
    if (first !== undefined) writer.record(raw, copy.value, [first, ...rest])
  }
  return entries
    .filter(holdsSomething)
    .map((entry) => ({ ...entry, message: { ...entry.message, timestamp: message.timestamp } }) as Entry)
}

function markedSummary(entry: Entry): Entry {
  return entry.parts.some((part) => injectedKind(part) === SUMMARY) ? asSummary(entry) : entry
}

const SUMMARY = "compact-summary"

/** The summary stands for all that came before it: a reader must not take it for just another injected text. */
function asSummary(entry: Entry): Entry {
  const pond = { ...(entry.message.options["pond"] as JsonObject | undefined), compaction: true }
  const message = { ...entry.message, options: { ...entry.message.options, pond } }
  const parts = entry.parts.map((part) => {
    const facts = { ...(part.options["pond"] as JsonObject | undefined), injected: SUMMARY }
    return { ...part, provenance: "injected", options: { ...part.options, pond: facts } }
  })
  return { message, parts } as Entry
}

// --- Rollback ---------------------------------------------------------------------------------------------------------

function rolledBack(record: JsonObject): number {
  if (valueAt(record, "payload", "type") !== "thread_rolled_back") return 0
  const turns = valueAt(record, "payload", "num_turns")
  return typeof turns === "number" ? turns : 0
}

function withoutLastTurns(history: readonly Entry[], turns: number): Entry[] {
  const starts = [...history.keys()].filter((index) => isUserTurn(history[index]))
  const start = starts[Math.max(0, starts.length - turns)]
  const [first] = starts
  if (start === undefined || first === undefined) return [...history]
  let end = start
  while (end > first && isContextual(history[end - 1])) end--
  return history.slice(0, end)
}

/** What the client told of the state of things goes with the turn that it was told before. */
const CONTEXTUAL: ReadonlySet<string> = new Set([
  ...["agents-md", "environment-context", "shell-command", "skill", "subagent-notification", "turn-aborted"],
])

function isContextual(entry: Entry | undefined): boolean {
  return entry?.message.role === "user" && entry.parts.some((part) => CONTEXTUAL.has(injectedKind(part) ?? ""))
}

/** Kinds of injected text that stand beside a request. Any other makes the whole message the harness's own. */
const BESIDE_REQUEST: ReadonlySet<string> = new Set(["editor-context", "image-label", "agent-message"])

/** Whether a message opens a turn. What the client itself counts by. */
function isUserTurn(entry: Entry | undefined): boolean {
  if (entry?.message.role !== "user") return false
  return (
    entry.parts.some(({ provenance }) => provenance === "conversational") &&
    entry.parts.every((part) => BESIDE_REQUEST.has(injectedKind(part) ?? "editor-context"))
  )
}

function injectedKind({ options }: Entry["parts"][number]): string | undefined {
  const pond = options["pond"]
  const kind = isJsonObject(pond) ? pond["injected"] : undefined
  return typeof kind === "string" ? kind : undefined
}
