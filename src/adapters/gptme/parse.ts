/** gptme to canonical: a line is a message with a text. Calls stand in the texts as blocks of code, and results have no id. */
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import { matchIn, momentOf, nonEmptyTextUnder, sealedModifiedAt, sealedOrigin, sealedRelativePath } from "../extract.ts"
import { textPart } from "../parts.ts"
import { createSessionWriter, isFilled, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, valueUnder, whole, wordUnder } from "../spot.ts"

export const BRAND = { id: "gptme", title: "gptme" }

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const id = matchIn(sealedRelativePath(main), /([^/]+)\/conversation\.jsonl$/)
  const product = sealedOrigin(BRAND)

  return {
    push(raw) {
      const record = readJson(raw, writer)
      const createdAt = (record === undefined ? undefined : momentOf(record, "timestamp")) ?? sealedModifiedAt(main)
      if (!writer.hasBegun && id !== undefined && createdAt !== undefined)
        writer.begin({ id, createdAt, sourceAgent: product, project: product })
      if (record !== undefined) takeMessage(writer, raw, record)
    },
    end() {
      writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

function takeMessage(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const role = wordUnder(record, "role")
  const drafts = draftsOf(record, role)
  if (!isFilled(drafts) && !ROLES.has(role ?? ""))
    writer.issue(raw, {
      kind: "unknown_record",
      severity: "note",
      found: `a message of ${role ?? "nobody"}`.slice(0, 80),
    })
  const timestamp = momentOf(record, "timestamp")
  if (isFilled(drafts)) writer.record(raw, record, drafts, { timestamp })
  else writer.carrier(raw, record, { timestamp })
}

const ROLES = new Set(["system", "user", "assistant", "tool"])

function draftsOf(record: SourceValue, role: string | undefined): MessageDraft[] {
  const text = nonEmptyTextUnder(whole(record), "content")
  if (text === undefined) return []
  if (role === "user") return [{ role, parts: [textPart({ provenance: "conversational", text })] }]
  if (role === "assistant") {
    const model = wordUnder(inside(whole(record), "metadata")?.value, "model")
    const pond = model === undefined ? undefined : { model }
    return [{ role, pond, parts: [textPart({ provenance: "conversational", text })] }]
  }
  // What it begins with is pinned; any other word of the system is what came of a tool.
  if (role === "system" && valueUnder(record, "pinned") === true) return [{ role, content: text }]
  if (role !== "system" && role !== "tool") return []
  return [{ role: "user", parts: [textPart({ provenance: "injected", text, pond: { injected: "tool-output" } })] }]
}
