/**
 * `chat_history.jsonl`: what Grok's model is sent. A compaction and a rewind write it anew, so each of its lines is kept once,
 * under a hash of it, and beside them a record of which lines are there now. What it says is in the log of updates as well.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../model/json.ts"
import type { Entry, Part, Session, SessionLog } from "../../model/session.ts"
import type { FileSink, NativeSerializer, RawRecord } from "../adapter.ts"
import { fingerprintOf, plain, sealedRelativePath, sourceText, textOfFile } from "../extract.ts"
import type { SessionWriter } from "../session-writer.ts"
import { entriesByRecord, nativeRecords, sourceOf, wholeSession, writeRecord } from "../shared/native.ts"
import { composed } from "../source-value.ts"
import { isHistory } from "./records.ts"

const LINES = "pond:lines"

/** Keeps the lines that are new, and which there are. Returns a hash of all of them: of the same ones nothing is kept. */
export function pushHistory(
  writer: SessionWriter,
  raw: Extract<RawRecord, { readonly text: string }>,
  known: string | undefined,
  seen: ReadonlySet<string>,
): string {
  const hash = lineKey(raw.text)
  if (hash === known) return hash
  const met = new Set<string>()
  const lines = raw.text.split("\n")
  for (const [at, text] of lines.entries()) {
    const line = { ...raw, line: at + 1, text }
    const id = fingerprintOf(composed({ line: sourceText(textOfFile(line)) }), ["line"])
    if (text === "" || met.has(plain(id))) continue
    met.add(plain(id))
    if (!seen.has(plain(id))) writer.whole(line, { id })
  }
  const id = sealedRelativePath(raw.file)
  const record = { [LINES]: lines.map((text) => (text === "" ? "" : lineKey(text))) }
  if (known === undefined) writer.carrier(raw, record, { id })
  else writer.carrier(raw, record, { pond: { revision_of: plain(id) } })
  return hash
}

function lineKey(text: string): string {
  return Bun.hash.xxHash64(text).toString(36)
}

/** The lines that are there now. */
function linesOf(listing: JsonValue | undefined, texts: ReadonlyMap<string, string>): string[] | undefined {
  const keys = isJsonObject(listing) ? listing[LINES] : undefined
  return Array.isArray(keys) ? keys.map((key: JsonValue) => texts.get(String(key)) ?? "") : undefined
}

/** Everything as it was, and the history as it was last. */
export function nativeOf(session: Session, sink: FileSink): NativeSerializer {
  return wholeSession(session, (log) => {
    const texts = new Map<string, string>()
    let place = ""
    let listing: JsonValue | undefined
    for (const record of nativeRecords(log)) {
      const { content, relativePath } = record
      if (!isHistory(relativePath)) writeRecord(record, sink)
      else if ("text" in content) texts.set(lineKey(content.text), content.text)
      else if ("json" in content) [place, listing] = [relativePath, content.json]
      else writeRecord(record, sink)
    }
    const lines = linesOf(listing, texts)
    if (lines !== undefined) sink.file({ form: "text", relativePath: place, text: lines.join("\n") })
    return { sessionId: session.id }
  })
}

// --- What is sent -----------------------------------------------------------------------------------------------------

/** The messages of the history as it is now. Undefined where there is none. */
export function historyEntries(log: SessionLog): Entry[] | undefined {
  const texts = new Map<string, string>()
  let listing: JsonValue | undefined
  for (const { newest } of entriesByRecord(log)) {
    const { file, text, record } = sourceOf(newest)
    if (typeof file !== "string" || !isHistory(file)) continue
    if (typeof text === "string") texts.set(lineKey(text), text)
    else listing = record
  }
  return linesOf(listing, texts)?.flatMap((line, at) => entryOfLine(log.session, line, at))
}

const QUERY = /^<user_query>\n([\s\S]*)\n<\/user_query>$/

function entryOfLine(session: Session, line: string, ordinal: number): Entry[] {
  const parsed = line === "" ? undefined : parseJson(line)
  if (parsed?.ok !== true || !isJsonObject(parsed.value)) return []
  const { value } = parsed
  const role = ROLES[String(value["type"])]
  const id = `history-${ordinal}`
  const common = { session_id: session.id, message_id: id }
  const parts = partsOf(value).map((part, index) => ({ ...common, id: `${id}:${index}`, options: {}, ...part }) as Part)
  if (role === undefined || parts.length === 0) return []
  const message = { id, session_id: session.id, ordinal, timestamp: session.created_at, options: {}, role }
  return [{ message, parts } as Entry]
}

const ROLES: Readonly<Record<string, "user" | "assistant" | "tool">> = {
  ...{ user: "user", reasoning: "assistant", assistant: "assistant", tool_result: "tool" },
}

/** What a line says, but for what the parts of a message have in common. */
function partsOf(line: JsonObject): object[] {
  const { type, content, tool_calls: calls, tool_call_id: callId, summary, synthetic_reason: reason } = line
  if (type === "tool_result") {
    const result = { call_id: String(callId), is_failure: false, result: content ?? "" }
    return [{ type: "tool_result", provenance: "injected", ...result }]
  }
  if (type === "reasoning")
    return textsIn(summary).map((text) => ({ type: "reasoning", provenance: "conversational", text }))
  if (type === "assistant") {
    const said = typeof content === "string" && content !== "" ? [content] : []
    const texts = said.map((text) => ({ type: "text", provenance: "conversational", text }))
    return [...texts, ...(Array.isArray(calls) ? (calls as readonly JsonValue[]) : []).map(callPartOf)]
  }
  return textsIn(content).map((text) => {
    const asked = reason === undefined ? QUERY.exec(text)?.[1] : undefined
    if (asked !== undefined) return { type: "text", provenance: "conversational", text: asked }
    const own = text.startsWith("<user_info>") ? "environment-context" : "compact-summary"
    const injected = reason === "system_reminder" ? "system-reminder" : own
    return { type: "text", provenance: "injected", text, options: { pond: { injected } } }
  })
}

function textsIn(content: JsonValue | undefined): string[] {
  if (typeof content === "string") return [content]
  const blocks = Array.isArray(content) ? (content as readonly JsonValue[]) : []
  return blocks.flatMap((block) => (isJsonObject(block) && typeof block["text"] === "string" ? [block["text"]] : []))
}

function callPartOf(call: JsonValue): object {
  const { id, name, arguments: text } = isJsonObject(call) ? call : {}
  const params = typeof text === "string" ? parseJson(text) : undefined
  return {
    ...{ type: "tool_call", provenance: "conversational", call_id: String(id), name: String(name) },
    ...{ params: params?.ok === true ? params.value : (text ?? null), provider_executed: false },
  }
}
