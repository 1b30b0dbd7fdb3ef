/**
 * Antigravity to canonical: a conversation is a list of steps, each what a person typed, what the model said with the calls that it
 * made, or what came of one. Of conversations that cannot be read a transcript may lie beside. Reads top to bottom: the
 * conversation, a step, a line of a transcript.
 */
import type { Parser, ParseSink, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  isNonZeroAt,
  joined,
  jsonIn,
  jsonUnder,
  matchIn,
  momentOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  pathInUrl,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
  timestampAt,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import {
  filePart,
  injectedText,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf } from "../session-writer.ts"
import { type Known, listedDocument, spoken } from "../shared/listed-document.ts"
import { readJson } from "../shared/read-json.ts"
import { unnamedNumbers } from "../shared/wire-message.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, NOWHERE, type Spot, valueUnder, whole } from "../spot.ts"
import { SYSTEM_KINDS } from "./messages.ts"
import { lineDrafts } from "./transcript.ts"

export const BRAND = { id: "antigravity", title: "Antigravity" }

export const conversation = listedDocument({
  brand: BRAND,
  key: "steps",
  start,
  facts: (step) => ({ timestamp: timestampAt(step, "step_payload", "metadata", "created_at") }),
  drafts,
})

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  return mainFileOf(unit).relativePath.endsWith(".jsonl")
    ? parseTranscript(unit, sink, resume)
    : conversation.parse(unit, sink, resume)
}

// --- A database -----------------------------------------------------------------------------------------------------------

function start(document: SourceValue): Known {
  const about = valueUnder(valueUnder(valueUnder(document, "about") ?? null, 0) ?? null, "data") ?? null
  const folder = nonEmptyStringAt(about, "folders", 0, "uri") ?? nonEmptyStringAt(about, "workspaces", 0)
  const parent = nonEmptyStringAt(about, "parent_conversation")
  const forked = nonEmptyStringAt(document, "references", 0, "data", "conversation")
  const agent = nonEmptyStringAt(about, "agent", "name")
  return {
    createdAt:
      momentOf(about, "created_at") ?? timestampAt(document, "steps", 0, "step_payload", "metadata", "created_at"),
    project: (folder && (pathInUrl(folder) ?? folder)) ?? nonEmptyStringAt(document, "workspace", "cwd"),
    parentSessionId: parent ?? forked,
    ...(parent === undefined ? {} : { sourceAgent: sealedOrigin(BRAND, agent) }),
  }
}

function drafts(step: Spot, note: Note): MessageDraft[] {
  const payload = inside(step, "step_payload") ?? NOWHERE
  const [input, planner] = [inside(payload, "user_input"), inside(payload, "planner_response")]
  if (input !== undefined) return spoken({ role: "user", parts: inputParts(input) })
  if (planner !== undefined) return spoken({ role: "assistant", parts: plannedParts(planner) })
  const metadata = inside(payload, "metadata") ?? NOWHERE
  const call = inside(metadata, "tool_call")
  if (call !== undefined) return resultDrafts(step, payload, call, note)
  const text = systemText(payload)
  const kind = valueUnder(payload.value, "type") ?? valueUnder(step.value, "step_type")
  if (text !== undefined) return [{ role: "user", parts: [injectedText(text, "system-reminder")] }]
  const line = inside(step, "transcript")
  if (line !== undefined) return lineDrafts(line, note)
  if (typeof kind !== "number" || !SYSTEM_KINDS.has(kind)) note("unknown_record", `a step of type ${kind ?? "none"}`)
  return []
}

function systemText(payload: Spot): Placed<string> | undefined {
  const error = inside(inside(payload, "error_message") ?? NOWHERE, "error") ?? NOWHERE
  const spots = ["system", "ephemeral", "history"].map((key) => inside(payload, key) ?? NOWHERE)
  return (
    spots.map((spot) => nonEmptyTextUnder(spot, "text")).find((text) => text !== undefined) ??
    nonEmptyTextUnder(error, "short") ??
    nonEmptyTextUnder(error, "full") ??
    nonEmptyTextUnder(error, "text")
  )
}

function inputParts(input: Spot): PartDraft<"text" | "file">[] {
  const items = itemsOf(inside(input, "items")).flatMap((item) => nonEmptyTextUnder(item, "text") ?? [])
  const only = nonEmptyTextUnder(input, "user_response") ?? nonEmptyTextUnder(input, "query")
  const texts = items.length > 0 || only === undefined ? items : [only]
  const images = itemsOf(inside(input, "images")).map((image) => ({ image, data: stringUnder(image, "base64") }))
  const media = itemsOf(inside(input, "media")).map((image) => {
    const data = inside(image, "data")
    return { image, data: data && stringUnder(data, "$bytes") }
  })
  return [
    ...texts.map((text) => textPart({ provenance: "conversational", text })),
    ...[...images, ...media].flatMap(({ image, data }): PartDraft<"file">[] => {
      const mediaType = nonEmptyStringUnder(image, "mime_type")
      return data === undefined || data.value === ""
        ? []
        : [filePart({ provenance: "conversational", mediaType, data: { base64: data } })]
    }),
  ]
}

function plannedParts(planner: Spot): PartDraft<"text" | "reasoning" | "tool_call">[] {
  const [thought, text] = [nonEmptyTextUnder(planner, "thinking"), nonEmptyTextUnder(planner, "text")]
  return [
    ...(thought === undefined ? [] : [reasoningPart({ provenance: "conversational", text: thought })]),
    ...(text === undefined ? [] : [textPart({ provenance: "conversational", text })]),
    ...itemsOf(inside(planner, "tool_calls")).flatMap((call) => {
      const [callId, name] = [nonEmptyStringUnder(call, "id"), nonEmptyStringUnder(call, "name")]
      const written = stringUnder(call, "arguments")
      const params = written && (jsonIn(written) ?? asJson(written))
      if (callId === undefined || name === undefined || params === undefined) return []
      return [toolCallPart({ provenance: "conversational", callId, name, params })]
    }),
  ]
}

/** Status 7 of a step is a failure. */
const FAILED = 7

function resultDrafts(step: Spot, payload: Spot, call: Spot, note: Note): MessageDraft[] {
  const [callId, name] = [nonEmptyStringUnder(call, "id"), nonEmptyStringUnder(call, "name")]
  if (callId === undefined) return []
  const text = resultText(step, payload)
  const rest = text === undefined ? jsonUnder(payload, "#") : asJson(text)
  if (text === undefined) note("unknown_part", `a result with field ${unnamedNumbers(payload.value).join(", ")}`)
  if (rest === undefined) return []
  const isFailure = valueUnder(payload.value, "status") === FAILED ? isNonZeroAt(payload.value, "status") : undefined
  return [{ role: "tool", parts: [toolResultPart({ provenance: "injected", callId, name, isFailure, result: rest })] }]
}

function resultText(step: Spot, payload: Spot): Placed<string> | undefined {
  const under = (...path: readonly string[]) => path.reduce((spot, key) => inside(spot, key) ?? NOWHERE, payload)
  const [response] = itemsOf(inside(under("agency"), "responses"))
  return (
    nonEmptyTextUnder(under("generic", "result"), "text") ??
    nonEmptyTextUnder(under("run_command", "output"), "full") ??
    nonEmptyTextUnder(under("run_command", "output"), "truncated") ??
    nonEmptyTextUnder(under("run_command"), "stdout") ??
    nonEmptyTextUnder(under("find"), "output") ??
    nonEmptyTextUnder(under("find"), "error") ??
    (response && nonEmptyTextUnder(inside(response, "value") ?? NOWHERE, "json")) ??
    nonEmptyTextUnder(inside(step, "transcript") ?? NOWHERE, "content") ??
    systemText(payload)
  )
}

// --- A transcript -----------------------------------------------------------------------------------------------------------

function parseTranscript(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  // The conversation itself, once it can be read, is another session: its steps have ids and results.
  const place = sealedRelativePath(main)
  const names = [matchIn(place, /^(transcript)s\//), matchIn(place, /([^/]+)\.jsonl$/)]
  const id = names.every((name) => name !== undefined) ? joined(names, "-") : undefined
  const product = sealedOrigin(BRAND)
  return {
    push(raw) {
      const record = readJson(raw, writer)
      const timestamp = momentOf(record ?? null, "created_at")
      writer.begin({ id, createdAt: timestamp, sourceAgent: product, project: product })
      if (record !== undefined) writer.record(raw, record, lineDrafts(whole(record), writer.noteOn(raw)), { timestamp })
    },
    end: writer.end,
  }
}
