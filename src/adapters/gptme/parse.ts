/** gptme to canonical: a line is a message with a text. Calls stand in the texts as blocks of code, and results have no id. */
import type { Parser, ParseSink, ResumePoint, SourceUnit } from "../adapter.ts"
import { matchIn, nonEmptyTextUnder, type Sealed, sealedOrigin, sealedRelativePath } from "../extract.ts"
import type { Note } from "../notes.ts"
import { injectedText, textPart } from "../parts.ts"
import { type MessageDraft, mainFileOf } from "../session-writer.ts"
import { parseDatedLines } from "../shared/dated-lines.ts"
import { inside, type Spot, valueUnder, wordUnder } from "../spot.ts"

export const BRAND = { id: "gptme", title: "gptme" }

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const id = matchIn(sealedRelativePath(mainFileOf(unit)), /([^/]+)\/conversation\.jsonl$/)
  const product = sealedOrigin(BRAND)
  const start = (createdAt: Sealed<string>) =>
    id === undefined ? undefined : { id, createdAt, sourceAgent: product, project: product }
  return parseDatedLines({ momentKey: "timestamp", start, drafts: lineDrafts }, unit, sink, resume)
}

const ROLES = new Set(["system", "user", "assistant", "tool"])

function lineDrafts(line: Spot, note: Note): MessageDraft[] {
  const role = wordUnder(line.value, "role")
  if (!ROLES.has(role ?? "")) note("unknown_record", `a message of ${role ?? "nobody"}`)
  const text = nonEmptyTextUnder(line, "content")
  if (text === undefined) return []
  if (role === "user") return [{ role, parts: [textPart({ provenance: "conversational", text })] }]
  if (role === "assistant") {
    const model = wordUnder(inside(line, "metadata")?.value, "model")
    const pond = model === undefined ? undefined : { model }
    return [{ role, pond, parts: [textPart({ provenance: "conversational", text })] }]
  }
  // What it begins with is pinned; any other word of the system is what came of a tool.
  if (role === "system" && valueUnder(line.value, "pinned") === true) return [{ role, content: text }]
  if (role !== "system" && role !== "tool") return []
  return [{ role: "user", parts: [injectedText(text, "tool-output")] }]
}
