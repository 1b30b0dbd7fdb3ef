/**
 * Cursor to canonical. A chat of the editor is a document of bubbles, one for each thought, text or call; a chat of the command
 * line one of blobs, of which those with a role are messages; a transcript a log. Reads top to bottom: the document, a bubble, a
 * message of the command line, a line of a transcript.
 */
import { isJsonObject, stringifyJson } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  isAt,
  joined,
  jsonOrText,
  jsonUnder,
  matchIn,
  momentOf,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  pathInUrl,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
} from "../extract.ts"
import { type PartDraft, reasoningPart, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import {
  createSessionWriter,
  isFilled,
  type MessageDraft,
  mainFileOf,
  type SessionStart,
  type SessionWriter,
} from "../session-writer.ts"
import { bubbleId, tabDrafts, tabStart, tabTitle } from "../shared/chat-tabs.ts"
import { splitDocument } from "../shared/documents.ts"
import { listedDocument } from "../shared/listed-document.ts"
import { itemRecord, readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, valueUnder, whole, wordUnder } from "../spot.ts"
import { BRAND, blobShape, isTab, shapeOf, textIn } from "./documents.ts"
import { roleDrafts } from "./messages.ts"

export const tab = listedDocument({
  brand: BRAND,
  key: "messages",
  start: tabStart,
  title: tabTitle,
  facts: (bubble) => ({ id: bubbleId(bubble) }),
  drafts: tabDrafts,
})

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  return isTab(mainFileOf(unit).relativePath) ? tab.parse(unit, sink, resume) : parseChat(unit, sink, resume)
}

function parseChat(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const place = sealedRelativePath(main)
  const agent = (id: Sealed<string> | undefined) => id && sealedOrigin(BRAND, id)

  function begin(start: Partial<SessionStart>): void {
    const id = start.id ?? matchIn(place, /([^/]+)\.json$/)
    const known = { sourceAgent: sealedOrigin(BRAND), project: sealedOrigin(BRAND) }
    writer.begin({
      ...known,
      ...Object.fromEntries(Object.entries(start).filter(([, value]) => value !== undefined)),
      id,
    })
  }

  function takeDocument(raw: RawRecord, document: SourceValue): void {
    const shape = shapeOf(document)
    const split = splitDocument(document, shape)
    begin(shape === blobShape ? chatStart(document) : composerStart(document, agent))
    writer.carrier(raw, split?.header ?? document, { id: place, pond: titleFacts(document) })
    for (const item of split?.items ?? []) {
      const own = itemRecord(raw, stringifyJson(item))
      if (shape === blobShape) takeBlob(writer, own, item)
      else takeBubble(writer, own, item)
    }
  }

  return {
    push(raw) {
      if (raw.file.form === "log" && !writer.hasBegun) begin(transcriptStart(place, agent))
      const record = readJson(raw, writer)
      if (record === undefined) {
        if (raw.file.form === "document") begin({})
      } else if (raw.file.form === "log") takeLine(writer, raw, record)
      else takeDocument(raw, record)
    },
    end: writer.end,
  }
}

type Agent = (id: Sealed<string> | undefined) => Sealed<string> | undefined

function titleFacts(document: SourceValue): MessageDraft["pond"] {
  const holder = fieldsOf(document)["composer"] ?? fieldsOf(fieldsOf(document)["meta"])["0"]
  const title = wordUnder(holder, "name")
  return title === undefined || title === "" || title === "New Agent" ? undefined : { title }
}

// --- The editor -----------------------------------------------------------------------------------------------------------

/** Which folder a chat is of stands in it since 2026, and in some bubbles before. */
function composerStart(document: SourceValue, agent: Agent): Partial<SessionStart> {
  const composer: SourceValue = fieldsOf(document)["composer"] ?? null
  const own = nonEmptyStringAt(composer, "workspaceIdentifier", "uri", "fsPath")
  const parent =
    nonEmptyStringAt(composer, "subagentInfo", "parentComposerId") ??
    nonEmptyStringAt(composer, "subagentInfo", "parentAgentId")
  return {
    id: nonEmptyOf(composer, "composerId"),
    createdAt: momentOf(composer, "createdAt"),
    project: own ?? folderInBubbles(document),
    parentSessionId: parent,
    sourceAgent: parent && agent(nonEmptyStringAt(composer, "subagentInfo", "typeName") ?? agentWord(composer)),
  } as Partial<SessionStart>
}

function agentWord(composer: SourceValue): Sealed<string> | undefined {
  return nonEmptyStringAt(composer, "subagentInfo", "subagentTypeName") ?? nonEmptyOf(composer, "unifiedMode")
}

function folderInBubbles(document: SourceValue): Sealed<string> | undefined {
  for (const { value: row } of itemsOf(inside(whole(document), "bubbles"))) {
    const bubble: SourceValue = valueUnder(row, "value") ?? null
    const url = nonEmptyStringAt(bubble, "workspaceUris", 0)
    const found = nonEmptyOf(bubble, "workspaceProjectDir") ?? (url && (pathInUrl(url) ?? url))
    if (found !== undefined) return found
  }
  return undefined
}

function takeBubble(writer: SessionWriter, raw: RawRecord, item: SourceValue): void {
  const isRow = textIn(item, "key") !== undefined
  const id = nonEmptyOf(item, isRow ? "key" : "bubbleId")
  const bubble = isRow ? inside(whole(item), "value") : whole(item)
  const timestamp = bubble && (momentOf(bubble.value, "createdAt") ?? momentOf(bubble.value, "timestamp"))
  writer.record(raw, item, bubble === undefined ? [] : bubbleDrafts(bubble, id), { id, timestamp })
}

/** Kind 1 is a person, kind 2 the model. A message that the editor made up itself is nobody's. */
function bubbleDrafts(bubble: Spot, id: Sealed<string> | undefined): MessageDraft[] {
  const text = nonEmptyTextUnder(bubble, "text") ?? nonEmptyTextUnder(bubble, "rawText")
  const kind = valueUnder(bubble.value, "type")
  if (kind === 1 || kind === "user") {
    if (text === undefined) return []
    const isMade = valueUnder(bubble.value, "isSimulatedMsg") === true
    const pond = isMade ? { injected: "context" } : undefined
    return [{ role: "user", parts: [textPart({ provenance: isMade ? "injected" : "conversational", text, pond })] }]
  }
  const thinking = inside(bubble, "thinking")
  const thought = thinking && nonEmptyTextUnder(thinking, "text")
  const tool = inside(bubble, "toolFormerData")
  const parts: PartDraft<"text" | "reasoning" | "tool_call">[] = [
    ...(thought === undefined ? [] : [reasoningPart({ provenance: "conversational", text: thought })]),
    ...(text === undefined ? [] : [textPart({ provenance: "conversational", text })]),
    ...(tool === undefined ? [] : bubbleCall(tool, id)),
  ]
  const results = tool === undefined ? [] : bubbleResult(tool, id)
  return [
    ...(isFilled(parts) ? [{ role: "assistant", pond: modelFacts(bubble), parts } as const] : []),
    ...(isFilled(results) ? [{ role: "tool", parts: results } as const] : []),
  ]
}

function modelFacts(bubble: Spot): MessageDraft["pond"] {
  const model = wordUnder(inside(bubble, "modelInfo")?.value, "modelName") ?? wordUnder(bubble.value, "modelType")
  return model === undefined || model === "" ? undefined : { model }
}

function bubbleCall(tool: Spot, id: Sealed<string> | undefined): PartDraft<"tool_call">[] {
  const [callId, name] = [nonEmptyStringUnder(tool, "toolCallId") ?? id, nonEmptyStringUnder(tool, "name")]
  const text = nonEmptyTextUnder(tool, "rawArgs") ?? stringUnder(tool, "params")
  const params = text === undefined ? jsonUnder(tool, "params") : jsonOrText(text)
  if (callId === undefined || name === undefined || params === undefined) return []
  return [toolCallPart({ provenance: "conversational", callId, name, params })]
}

function bubbleResult(tool: Spot, id: Sealed<string> | undefined): PartDraft<"tool_result">[] {
  const callId = nonEmptyStringUnder(tool, "toolCallId") ?? id
  const text = nonEmptyTextUnder(tool, "result") ?? nonEmptyTextUnder(tool, "error")
  if (callId === undefined || text === undefined || bubbleCall(tool, id).length === 0) return []
  const isFailure = isAt(tool.value, "error", "status")
  const name = nonEmptyStringUnder(tool, "name")
  return [toolResultPart({ provenance: "injected", callId, name, isFailure, result: asJson(text) })]
}

// --- The command line -------------------------------------------------------------------------------------------------------

function chatStart(document: SourceValue): Partial<SessionStart> {
  const meta: SourceValue = fieldsOf(fieldsOf(document)["meta"])["0"] ?? null
  return {
    id: nonEmptyOf(meta, "agentId"),
    createdAt: momentOf(meta, "createdAt"),
    project: nonEmptyOf(meta, "workspacePath") ?? folderInBlobs(document),
    parentSessionId: nonEmptyStringAt(meta, "subagentInfo", "parentAgentId"),
  } as Partial<SessionStart>
}

/** The first message tells the model where it works. */
function folderInBlobs(document: SourceValue): Sealed<string> | undefined {
  for (const { value: blob } of itemsOf(inside(whole(document), "blobs"))) {
    const content: SourceValue = valueUnder(valueUnder(blob, "value") ?? null, "content") ?? null
    const texts = [nonEmptyStringAt(content), nonEmptyStringAt(content, 0, "text")]
    for (const text of texts) {
      const found = text && matchIn(text, /^Workspace Path: (.+)$/m)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function takeBlob(writer: SessionWriter, raw: RawRecord, item: SourceValue): void {
  const id = nonEmptyOf(item, "id")
  const value = inside(whole(item), "value")
  const drafts = value === undefined || !isJsonObject(value.value) ? [] : roleDrafts(value)
  const timestamp = drafts.length === 0 || value === undefined ? undefined : momentOf(value.value, "createdAt")
  writer.record(raw, item, drafts, { id, timestamp })
}

// --- Transcripts ------------------------------------------------------------------------------------------------------------

/** Not under the id of the chat: a database that is found later has it whole. */
function transcriptStart(place: Sealed<string>, agent: Agent): Partial<SessionStart> {
  const [kind, id] = [matchIn(place, /(agent-transcripts)\//), matchIn(place, /([^/]+)\.jsonl$/)]
  const parent = matchIn(place, /([^/]+)\/subagents\//)
  const named = (of: Sealed<string> | undefined) => (kind && of ? joined([kind, of], "-") : of)
  return {
    id: named(id),
    project: matchIn(place, /^projects\/([^/]+)\//),
    parentSessionId: parent && named(parent),
    sourceAgent: parent && agent(matchIn(place, /\/(subagent)s\//)),
  } as Partial<SessionStart>
}

function takeLine(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const message = inside(whole(record), "message")
  const drafts = message === undefined ? [] : roleDrafts(message, wordUnder(record, "role"))
  if (!isFilled(drafts) && wordUnder(record, "type") !== "turn_ended")
    writer.issue(raw, { kind: "unknown_record", severity: "note", found: wordUnder(record, "type") ?? "no type" })
  writer.record(raw, record, drafts)
}
