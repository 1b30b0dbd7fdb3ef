/** A transcript of oh-my-opencode to canonical: a line is a prompt, an answer, a call, or what came of one. */
import type { Parser, ParseSink, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  fingerprintOf,
  joined,
  jsonUnder,
  matchIn,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { textPart, toolCallPart, toolResultPart } from "../parts.ts"
import { type MessageDraft, mainFileOf } from "../session-writer.ts"
import { parseDatedLines } from "../shared/dated-lines.ts"
import { type Spot, wordUnder } from "../spot.ts"

export const BRAND = { id: "oh-my-opencode", title: "oh-my-opencode" }

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const name = matchIn(sealedRelativePath(mainFileOf(unit)), /([^/]+?)(?:\.omo)?\.jsonl$/)
  const original = name && matchIn(name, /^(ses_.+)$/)
  const origin = sealedOrigin(BRAND)
  const start = (createdAt: Sealed<string>) => {
    if (name === undefined) return undefined
    const id = joined([name, origin], ":")
    // Where its owner erases the session of opencode, its copy goes with it.
    return { id, createdAt, sourceAgent: origin, project: origin, parentSessionId: original }
  }
  return parseDatedLines({ momentKey: "timestamp", start, drafts: lineDrafts }, unit, sink, resume)
}

function lineDrafts(line: Spot, note: Note): MessageDraft[] {
  const type = wordUnder(line.value, "type")
  switch (type) {
    case "user":
    case "assistant": {
      const text = nonEmptyTextUnder(line, "content")
      return text === undefined ? [] : [{ role: type, parts: [textPart({ provenance: "conversational", text })] }]
    }
    case "tool_use":
    case "tool_result":
      return toolDrafts(line, type)
    default:
      note("unknown_record", type ?? "a line of no type")
      return []
  }
}

/** No line has an id: a call and its result say the same name and the same input. */
function toolDrafts(line: Spot, type: "tool_use" | "tool_result"): MessageDraft[] {
  const name = nonEmptyStringUnder(line, "tool_name")
  if (name === undefined) return []
  const callId = fingerprintOf(line.value, ["tool_name", "tool_input"])
  if (type === "tool_use") {
    const params = jsonUnder(line, "tool_input")
    if (params === undefined) return []
    return [{ role: "assistant", parts: [toolCallPart({ provenance: "conversational", callId, name, params })] }]
  }
  const result = jsonUnder(line, "tool_output")
  return result === undefined
    ? []
    : [{ role: "tool", parts: [toolResultPart({ provenance: "injected", callId, name, result })] }]
}
