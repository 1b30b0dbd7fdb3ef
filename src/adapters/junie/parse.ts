/**
 * Junie to canonical: prompts, and blocks of what its agent did, which are written again whenever they grow: the last of a step
 * counts. Reads top to bottom: the session, an event, a block.
 */
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  isNonZeroAt,
  joined,
  jsonUnder,
  matchIn,
  momentOf,
  nonEmptyOf,
  nonEmptyTextUnder,
  parsedIn,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
  textOfFile,
} from "../extract.ts"
import { asTitle, type Note } from "../notes.ts"
import { textPart, toolCallPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf } from "../session-writer.ts"
import { readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, NOWHERE, type Spot, whole, wordUnder } from "../spot.ts"

export const BRAND = { id: "junie", title: "Junie" }

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const id = matchIn(sealedRelativePath(main), /([^/]+)\/events\.jsonl$/)
  // The line comes behind the log, and says at once where the session ran.
  const [line] = unit.beside ?? []
  const listed: SourceValue = (line !== undefined && "text" in line ? parsedIn(textOfFile(line)) : undefined) ?? null

  function begin(timestamp: Sealed<string> | undefined): void {
    const createdAt = timestamp ?? momentOf(listed, "createdAt")
    const project = nonEmptyOf(listed, "projectDir") ?? sealedOrigin(BRAND)
    writer.begin({ id, createdAt, sourceAgent: sealedOrigin(BRAND), project, reappends: true })
  }

  function takeIndex(raw: RawRecord, record: SourceValue): void {
    writer.carrier(raw, record, { id: sealedRelativePath(raw.file), pond: asTitle(wordUnder(record, "taskName")) })
  }

  return {
    push(raw) {
      const record = readJson(raw, writer)
      if (record === undefined) return
      if (raw.file.relativePath !== main.relativePath) return takeIndex(raw, record)
      const timestamp = momentOf(record, "timestampMs")
      begin(timestamp)
      const drafts = eventDrafts(whole(record), writer.noteOn(raw))
      writer.record(raw, record, drafts, { timestamp })
    },
    end: writer.end,
  }
}

function eventDrafts(event: Spot, note: Note): MessageDraft[] {
  const kind = wordUnder(event.value, "kind")
  if (kind === "UserPromptEvent") {
    const text = nonEmptyTextUnder(event, "presentablePrompt") ?? nonEmptyTextUnder(event, "prompt")
    return text === undefined ? [] : [{ role: "user", parts: [textPart({ provenance: "conversational", text })] }]
  }
  const block = inside(inside(event, "event") ?? NOWHERE, "agentEvent")
  if (kind === "SessionA2uxEvent") return block === undefined ? [] : blockDrafts(block, note)
  note("unknown_record", kind ?? "an event of no kind")
  return []
}

const TEXTS = ["text", "markdown", "content", "result"]
/** What a block has of a call, by its kind. */
const PARAMETERS: Readonly<Record<string, string>> = { Terminal: "command", ViewFiles: "files", FileChanges: "changes" }

function blockDrafts(block: Spot, note: Note): MessageDraft[] {
  const kind = nonEmptyOf(block.value, "kind")
  const name = kind && matchIn(kind, /^(\w+?)BlockUpdatedEvent$/)
  const word = /^(\w+?)BlockUpdatedEvent$/.exec(wordUnder(block.value, "kind") ?? "")?.[1] ?? ""
  const id = nonEmptyOf(block.value, "stepId")
  const key = PARAMETERS[word]
  if (word === "Markdown" || word === "Result") {
    const text = TEXTS.map((each) => nonEmptyTextUnder(block, each)).find((each) => each !== undefined)
    if (text !== undefined)
      return [{ role: "assistant", id, parts: [textPart({ provenance: "conversational", text })] }]
  }
  const params = key === undefined ? undefined : jsonUnder(block, key)
  if (params !== undefined && name !== undefined && id !== undefined) {
    const output = stringUnder(block, "output")
    const isFailure = isNonZeroAt(block.value, "exitCode")
    const call: MessageDraft = {
      role: "assistant",
      id,
      parts: [toolCallPart({ provenance: "conversational", callId: id, name, params })],
    }
    if (output === undefined) return [call]
    const result = toolResultPart({ provenance: "injected", callId: id, name, isFailure, result: asJson(output) })
    return [call, { role: "tool", id: joined([id, name], " "), parts: [result] }]
  }
  if (word !== "ContextCompaction")
    note("unknown_record", `a block of kind ${wordUnder(block.value, "kind") ?? "none"}`)
  return []
}
