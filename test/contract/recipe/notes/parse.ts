/** Notes to canonical: a log opens with its header, and then somebody says something, or a tool runs. */
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../../../../src/adapters/adapter.ts"
import {
  jsonAt,
  nonEmptyStringAt,
  sealedOrigin,
  stringAt,
  timestampAt,
  valueAt,
} from "../../../../src/adapters/extract.ts"
import { textPart, toolCallPart, toolResultPart } from "../../../../src/adapters/parts.ts"
import {
  createSessionWriter,
  type MessageDraft,
  mainFileOf,
  type SessionWriter,
} from "../../../../src/adapters/session-writer.ts"
import { readJson } from "../../../../src/adapters/shared/read-json.ts"
import type { SourceValue } from "../../../../src/adapters/source-value.ts"
import { wordUnder } from "../../../../src/adapters/spot.ts"

export const BRAND = { id: "notes" }

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const writer = createSessionWriter(mainFileOf(unit), sink, resume)
  return {
    push(raw) {
      const record = readJson(raw, writer)
      if (record === undefined) return
      if (!writer.hasBegun) begin(writer, record)
      const draft = draftOf(record)
      if (draft !== undefined) writer.record(raw, record, [draft])
      else pushCarrier(writer, raw, record)
    },
    end() {
      writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

function begin(writer: SessionWriter, record: SourceValue): void {
  const id = nonEmptyStringAt(record, "open")
  const project = nonEmptyStringAt(record, "cwd")
  const createdAt = timestampAt(record, "at")
  if (id === undefined || project === undefined || createdAt === undefined) return
  writer.begin({ id, sourceAgent: sealedOrigin(BRAND), project, createdAt })
}

function pushCarrier(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  if (valueAt(record, "open") === undefined)
    writer.issue(raw, { kind: "unknown_record", severity: "note", found: "a line that is none of a note" })
  const title = wordUnder(record, "title")
  writer.carrier(raw, record, {
    timestamp: timestampAt(record, "at"),
    ...(title === undefined ? {} : { pond: { title } }),
  })
}

/** Nothing where the record is no message. */
function draftOf(record: SourceValue): MessageDraft | undefined {
  const timestamp = timestampAt(record, "at")
  const text = stringAt(record, "text")
  const who = valueAt(record, "who")
  if (text !== undefined && (who === "user" || who === "assistant")) {
    const role = who === "user" ? "user" : "assistant"
    return { timestamp, role, parts: [textPart({ provenance: "conversational", text })] }
  }
  const callId = nonEmptyStringAt(record, "call")
  const name = nonEmptyStringAt(record, "tool")
  const params = jsonAt(record, "given")
  if (callId !== undefined && name !== undefined && params !== undefined)
    return {
      timestamp,
      role: "assistant",
      parts: [toolCallPart({ provenance: "conversational", callId, name, params })],
    }
  const result = jsonAt(record, "came")
  if (callId === undefined || result === undefined) return undefined
  return { timestamp, role: "tool", parts: [toolResultPart({ provenance: "injected", callId, result })] }
}
