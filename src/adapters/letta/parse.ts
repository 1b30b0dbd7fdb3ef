/** Letta Code to canonical: a line is a prompt, a thought, an answer, or a call with its result. */
import type { Parser, ParseSink, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  isFalseAt,
  joined,
  jsonIn,
  matchIn,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { injectedText, reasoningPart, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import { type MessageDraft, mainFileOf } from "../session-writer.ts"
import { parseDatedLines } from "../shared/dated-lines.ts"
import { type Spot, wordUnder } from "../spot.ts"

export const BRAND = { id: "letta", title: "Letta Code" }

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const place = sealedRelativePath(mainFileOf(unit))
  const names = [matchIn(place, /^([^/]+)\//), matchIn(place, /([^/]+)\/transcript\.jsonl$/)]
  const id = joined(
    names.flatMap((name) => name ?? []),
    ":",
  )
  const product = sealedOrigin(BRAND)
  const start = (createdAt: Sealed<string>) => ({ id, createdAt, sourceAgent: product, project: product })
  return parseDatedLines({ momentKey: "captured_at", start, drafts: lineDrafts }, unit, sink, resume)
}

function lineDrafts(line: Spot, note: Note): MessageDraft[] {
  const kind = wordUnder(line.value, "kind")
  if (kind === "tool_call") return callDrafts(line)
  const text = nonEmptyTextUnder(line, "text")
  if (!["user", "assistant", "reasoning", "error"].includes(kind ?? ""))
    note("unknown_record", kind ?? "a line of no kind")
  if (text === undefined) return []
  if (kind === "user") return [{ role: "user", parts: [textPart({ provenance: "conversational", text })] }]
  if (kind === "assistant") return [{ role: "assistant", parts: [textPart({ provenance: "conversational", text })] }]
  if (kind === "reasoning")
    return [{ role: "assistant", parts: [reasoningPart({ provenance: "conversational", text })] }]
  return kind === "error" ? [{ role: "user", parts: [injectedText(text, "system-reminder")] }] : []
}

/** A call that was interrupted has no result. */
function callDrafts(line: Spot): MessageDraft[] {
  const name = nonEmptyStringUnder(line, "name")
  const callId = nonEmptyStringUnder(line, "source_line_id") ?? name
  const [written, answer] = [stringUnder(line, "argsText"), stringUnder(line, "resultText")]
  if (name === undefined || callId === undefined || written === undefined) return []
  const params = jsonIn(written) ?? asJson(written)
  const call: MessageDraft = {
    role: "assistant",
    parts: [toolCallPart({ provenance: "conversational", callId, name, params })],
  }
  if (answer === undefined) return [call]
  const isFailure = isFalseAt(line.value, "resultOk")
  const result = toolResultPart({ provenance: "injected", callId, name, isFailure, result: asJson(answer) })
  return [call, { role: "tool", parts: [result] }]
}
