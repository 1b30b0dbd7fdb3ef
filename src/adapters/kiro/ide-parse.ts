/**
 * Kiro's editor to canonical, of three eras: a chat of one run, a session with the runs that answered it, a log. Reads top to
 * bottom: the chat, the session, a run, the log.
 */
import type { Parser, ParseSink, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  jsonUnder,
  matchIn,
  momentOf,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  sealedOrigin,
  sealedRelativePath,
  splitAt,
  stringUnder,
  timestampAt,
} from "../extract.ts"
import { asTitle, type Note } from "../notes.ts"
import { injectedText, opaquePart, type PartDraft, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf } from "../session-writer.ts"
import { listedDocument, spoken } from "../shared/listed-document.ts"
import { readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, NOWHERE, type Spot, whole, wordUnder } from "../spot.ts"

export const IDE = { id: "kiro-ide", title: "Kiro" }

export function parseIde(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const place = mainFileOf(unit).relativePath
  if (place.endsWith(".jsonl")) return parseLog(unit, sink, resume)
  return codecOf(place).parse(unit, sink, resume)
}

export function codecOf(place: string): typeof run {
  return place.endsWith(".chat") ? run : workspaceSession
}

// --- Chats of 2025, one for each run --------------------------------------------------------------------------------------

const run = listedDocument({
  brand: IDE,
  key: "chat",
  start: (document) => ({
    id: nonEmptyOf(document, "executionId"),
    createdAt: timestampAt(document, "metadata", "startTime"),
    project: undefined,
  }),
  drafts: chatDrafts,
})

/** What the program says in the name of the person stands before the first prompt. */
const TOLD = /^\s*(?:# System Prompt|# Identity|<identity>|## Included Rules|You are operating in a workspace)/
const TYPED = /<kiro-ide-message>\n?([\s\S]*?)\n?<\/kiro-ide-message>/

function chatDrafts(message: Spot, note: Note): MessageDraft[] {
  const role = wordUnder(message.value, "role")
  const text = nonEmptyTextUnder(message, "content")
  if (!["human", "bot", "tool"].includes(role ?? "")) note("unknown_record", `a message of ${role ?? "nobody"}`)
  if (text === undefined) return []
  if (role === "human") return [{ role: "user", parts: humanParts(text) }]
  if (role === "bot") return [{ role: "assistant", parts: [textPart({ provenance: "conversational", text })] }]
  return role === "tool" ? [{ role: "user", parts: [injectedText(text, "tool-output")] }] : []
}

function humanParts(text: Placed<string>): PartDraft<"text">[] {
  if (TOLD.test(text.value)) return [injectedText(text, "context")]
  const found = TYPED.exec(text.value)
  if (found === null) return [textPart({ provenance: "conversational", text })]
  const typed = found[1] ?? ""
  const from = found.index + found[0].indexOf(typed)
  let at = 0
  return splitAt(text, [from, from + typed.length]).map((piece) => {
    const isTyped = at === from
    at += piece.value.length
    return isTyped ? textPart({ provenance: "conversational", text: piece }) : injectedText(piece, "context")
  })
}

// --- Sessions of a workspace ------------------------------------------------------------------------------------------------

const workspaceSession = listedDocument({
  brand: IDE,
  key: "history",
  start: (document) => ({
    id: nonEmptyOf(document, "sessionId"),
    createdAt: momentOf(document, "dateCreated"),
    project: nonEmptyOf(document, "workspaceDirectory"),
  }),
  title: (document) => wordUnder(document, "title"),
  facts: (entry) => ({ id: nonEmptyStringAt(entry, "message", "id") }),
  drafts: entryDrafts,
})

function entryDrafts(entry: Spot, note: Note): MessageDraft[] {
  const message = inside(entry, "message") ?? NOWHERE
  const role = wordUnder(message.value, "role")
  if (role === "user") return spoken({ role, parts: contentParts(message, note) })
  if (role === "assistant") {
    const actions = itemsOf(inside(inside(entry, "execution") ?? NOWHERE, "actions")).flatMap(actionDrafts)
    if (actions.length > 0) return actions
    const parts = contentParts(message, note)
    const logged = itemsOf(inside(entry, "promptLogs")).flatMap((log) => nonEmptyTextUnder(log, "completion") ?? [])
    const completions = logged.map((text) => textPart({ provenance: "conversational", text }))
    return spoken({ role, parts: parts.length > 0 ? parts : completions })
  }
  if (role !== "tool" && role !== "system") note("unknown_record", `a message of ${role ?? "nobody"}`)
  return []
}

function contentParts(message: Spot, note: Note): PartDraft<"text" | "opaque">[] {
  const only = nonEmptyTextUnder(message, "content")
  if (only !== undefined) return [textPart({ provenance: "conversational", text: only })]
  return itemsOf(inside(message, "content")).flatMap((block): PartDraft<"text" | "opaque">[] => {
    const text = nonEmptyTextUnder(block, "text")
    if (text !== undefined) return [textPart({ provenance: "conversational", text })]
    const kind = nonEmptyStringUnder(block, "type")
    if (wordUnder(block.value, "type") !== "text") note("unknown_part", wordUnder(block.value, "type") ?? "no type")
    return kind === undefined || wordUnder(block.value, "type") === "text"
      ? []
      : [opaquePart({ provenance: "injected", kind })]
  })
}

/** What a run said is an action as well; any other is a call, with what came of it. */
function actionDrafts(action: Spot): MessageDraft[] {
  const output = inside(action, "output")
  const said = output && nonEmptyTextUnder(output, "message")
  if (wordUnder(action.value, "actionType") === "say")
    return said === undefined
      ? []
      : [{ role: "assistant", parts: [textPart({ provenance: "conversational", text: said })] }]
  const [callId, name] = [nonEmptyStringUnder(action, "actionId"), nonEmptyStringUnder(action, "actionType")]
  const params = jsonUnder(action, "input")
  if (callId === undefined || name === undefined || params === undefined) return []
  const call: MessageDraft = {
    role: "assistant",
    parts: [toolCallPart({ provenance: "conversational", callId, name, params })],
  }
  const result = said === undefined ? jsonUnder(action, "output") : asJson(said)
  if (result === undefined) return [call]
  return [
    call,
    { role: "tool", parts: [toolResultPart({ provenance: "injected", callId, name, isFailure: undefined, result })] },
  ]
}

// --- Logs -----------------------------------------------------------------------------------------------------------------------

function parseLog(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const place = sealedRelativePath(main)

  function begin(header: SourceValue): void {
    const id = nonEmptyOf(header, "id") ?? matchIn(place, /([^/]+)\/messages\.jsonl$/)
    const createdAt = momentOf(header, "createdAt") ?? momentOf(header, "created_at")
    const project = nonEmptyStringAt(header, "workspacePaths", 0) ?? sealedOrigin(IDE)
    writer.begin({ id, createdAt, sourceAgent: sealedOrigin(IDE), project })
  }

  return {
    push(raw) {
      const record = readJson(raw, writer)
      const isLine = raw.file.relativePath === main.relativePath
      if (unit.files.length === 1 || !isLine) begin(isLine ? null : (record ?? null))
      if (record === undefined) return
      if (!isLine)
        return writer.carrier(raw, record, {
          id: sealedRelativePath(raw.file),
          pond: asTitle(wordUnder(record, "title")),
        })
      const timestamp = momentOf(record, "timestamp")
      const line = whole(record)
      const drafts = lineDrafts(inside(line, "payload") ?? line, writer.noteOn(raw))
      writer.record(raw, record, drafts, { timestamp })
    },
    end(isSettled) {
      if (isSettled === true) begin(null)
      writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

const SILENT = new Set(["session_metadata", "usage_summary", "turn_start", "turn_end", "system"])

function lineDrafts(payload: Spot, note: Note): MessageDraft[] {
  const kind = wordUnder(payload.value, "type") ?? wordUnder(payload.value, "role")
  if (kind === "user") return spoken({ role: kind, parts: contentParts(payload, note) })
  if (kind === "assistant") return spoken({ role: kind, parts: contentParts(payload, note) })
  const own = inside(payload, "content") ?? NOWHERE
  let found: MessageDraft[] = []
  if (kind === "tool_call") found = callDrafts(payload, own)
  if (kind === "tool_result") found = answerDrafts(payload, own)
  if (found.length === 0 && !SILENT.has(kind ?? "")) note("unknown_record", kind ?? "a line of no type")
  return found
}

/** Readers look for a field in the line and in its content. */
function eitherUnder(payload: Spot, own: Spot, keys: readonly string[]): ReturnType<typeof nonEmptyStringUnder> {
  const found = keys.map((key) => nonEmptyStringUnder(payload, key) ?? nonEmptyStringUnder(own, key))
  return found.find((each) => each !== undefined)
}

const CALL_IDS = ["toolCallId", "toolUseId", "id"]

function callDrafts(payload: Spot, own: Spot): MessageDraft[] {
  const callId = eitherUnder(payload, own, CALL_IDS)
  const name = eitherUnder(payload, own, ["toolName", "name"])
  const params = jsonUnder(payload, "input") ?? jsonUnder(own, "input") ?? jsonUnder(own, "args")
  if (callId === undefined || name === undefined || params === undefined) return []
  return [{ role: "assistant", parts: [toolCallPart({ provenance: "conversational", callId, name, params })] }]
}

function answerDrafts(payload: Spot, own: Spot): MessageDraft[] {
  const callId = eitherUnder(payload, own, CALL_IDS)
  const text = stringUnder(own, "output") ?? stringUnder(own, "content") ?? stringUnder(payload, "content")
  const result = text === undefined ? jsonUnder(payload, "content") : asJson(text)
  if (callId === undefined || result === undefined) return []
  return [{ role: "tool", parts: [toolResultPart({ provenance: "injected", callId, isFailure: undefined, result })] }]
}
