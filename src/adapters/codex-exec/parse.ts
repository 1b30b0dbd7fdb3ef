/**
 * `codex exec --json` to canonical: a line is an event of a thread. An item that has begun is a call, one that is finished its
 * result; texts and thoughts come finished. Reads top to bottom: the thread, an event, an item.
 */

import type { JsonValue } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  copied,
  isAt,
  joined,
  jsonAt,
  jsonHere,
  jsonUnder,
  momentInUuid,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  type Sealed,
  sealedOrigin,
} from "../extract.ts"
import { opaquePart, reasoningPart, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { readJson } from "../shared/read-json.ts"
import { composed, fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, type Spot, valueUnder, whole, wordUnder } from "../spot.ts"

export const BRAND = { id: "codex-exec", title: "codex exec --json" }

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const origin = sealedOrigin(BRAND)
  const begun = new Set<string>(namesIn(resume?.state))

  return {
    push(raw) {
      const record = readJson(raw, writer)
      const thread = nonEmptyStringAt(record ?? null, "thread_id")
      // No event has a time. The id of a thread begins with the moment at which it was made.
      const createdAt = thread && momentInUuid(thread)
      writer.begin({ id: thread && joined([thread, origin], ":"), createdAt, sourceAgent: origin, project: origin })
      if (record !== undefined) takeEvent(writer, raw, record, begun)
    },
    end() {
      writer.end()
      return { state: { begun: [...begun] }, clientVersions: [] }
    },
  }
}

function namesIn(state: SourceValue | undefined): readonly string[] {
  const names = valueUnder(state ?? null, "begun")
  return Array.isArray(names) ? names.filter((name): name is string & SourceValue => typeof name === "string") : []
}

const EVENTS = new Set(["thread.started", "thread.resumed", "turn.started", "turn.completed", "turn.failed", "error"])
/** `created` and `delta` are of older builds. What is not finished comes again. */
const OF_ITEMS = new Set(["item.started", "item.updated", "item.completed", "item.created", "item.delta"])

function takeEvent(writer: SessionWriter, raw: RawRecord, record: SourceValue, begun: Set<string>): void {
  const type = wordUnder(record, "type")
  const item = inside(whole(record), "item")
  const drafts = item === undefined ? [] : itemDrafts(item, type, begun)
  const isKnown =
    EVENTS.has(type ?? "") || (OF_ITEMS.has(type ?? "") && KINDS.has(wordUnder(item?.value, "type") ?? ""))
  if (!isKnown) {
    const found = [type ?? "no type", wordUnder(item?.value, "type")].filter((word) => word !== undefined).join(" ")
    writer.noteOn(raw)("unknown_record", found)
  }
  writer.record(raw, record, drafts)
}

const KINDS = new Set([
  ...["agent_message", "reasoning", "command_execution", "file_change", "mcp_tool_call", "collab_tool_call"],
  ...["web_search", "todo_list", "error"],
])

function itemDrafts(item: Spot, type: string | undefined, begun: Set<string>): MessageDraft[] {
  const isFinished = type === "item.completed"
  switch (wordUnder(item.value, "type")) {
    case "agent_message":
    case "reasoning":
      return isFinished ? saidDrafts(item) : []
    case "error":
    case "todo_list": {
      const kind = nonEmptyStringUnder(item, "type")
      return isFinished && kind !== undefined
        ? [{ role: "assistant", parts: [opaquePart({ provenance: "injected", kind })] }]
        : []
    }
    case "command_execution":
    case "file_change":
    case "mcp_tool_call":
    case "collab_tool_call":
    case "web_search":
      return isFinished || type === "item.started" ? callDrafts(item, isFinished, begun) : []
    default:
      return []
  }
}

function saidDrafts(item: Spot): MessageDraft[] {
  const text = nonEmptyTextUnder(item, "text")
  if (text === undefined) return []
  const isThought = wordUnder(item.value, "type") === "reasoning"
  const part = isThought
    ? reasoningPart({ provenance: "conversational", text })
    : textPart({ provenance: "conversational", text })
  return [{ role: "assistant", parts: [part] }]
}

/** Some items come finished only: they are the call, too. */
function callDrafts(item: Spot, isFinished: boolean, begun: Set<string>): MessageDraft[] {
  const callId = nonEmptyStringUnder(item, "id")
  const name = nameIn(item)
  if (callId === undefined || name === undefined) return []
  const key = wordUnder(item.value, "id") ?? ""
  const hasBegun = begun.has(key)
  const drafts: MessageDraft[] = []
  if (!hasBegun || !isFinished) {
    const params = paramsIn(item)
    drafts.push({ role: "assistant", parts: [toolCallPart({ provenance: "conversational", callId, name, params })] })
  }
  if (!isFinished) {
    begun.add(key)
    return drafts
  }
  // A later run in the same output counts its items from anew.
  begun.delete(key)
  const isFailure = isAt(item.value, "failed", "status")
  const result = resultIn(item)
  drafts.push({ role: "tool", parts: [toolResultPart({ provenance: "injected", callId, isFailure, result })] })
  return drafts
}

function nameIn(item: Spot): Sealed<string> | undefined {
  const tool = nonEmptyStringUnder(item, "tool")
  const server = nonEmptyStringUnder(item, "server")
  if (tool === undefined) return nonEmptyStringUnder(item, "type")
  return server === undefined ? tool : joined([server, tool], "__")
}

/** What was asked for, without what came of it. */
const ASKED = ["command", "changes", "query", "action", "prompt", "receiver_thread_ids", "sender_thread_id"]

function paramsIn(item: Spot): Placed<JsonValue> {
  const given = jsonUnder(item, "arguments")
  if (given !== undefined) return given
  const fields = fieldsOf(item.value)
  const asked = ASKED.flatMap((key) => {
    const value = fields[key]
    return value === undefined ? [] : [[key, value] as const]
  })
  return jsonHere(whole(composed(Object.fromEntries(asked))))
}

/** A change of files says that it was done, and no more. */
function resultIn(item: Spot): Placed<JsonValue> {
  const { value } = item
  const isError = valueUnder(value, "error") !== undefined && valueUnder(value, "error") !== null
  const found =
    jsonUnder(item, "aggregated_output") ??
    (isError ? jsonUnder(item, "error") : jsonUnder(item, "result")) ??
    jsonAt(value, "status")
  return found ?? copied(jsonHere(item))
}
