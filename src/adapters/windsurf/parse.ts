/**
 * Windsurf to canonical: a transcript has a line for each step, a chat of a workspace a list of bubbles. Reads top to bottom: the
 * chat, the transcript, a line of it.
 */
import type { Parser, ParseSink, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  jsonHere,
  jsonIn,
  matchIn,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { type PartDraft, reasoningPart, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf } from "../session-writer.ts"
import { bubbleId, tabDrafts, tabStart, tabTitle } from "../shared/chat-tabs.ts"
import { listedDocument, spoken } from "../shared/listed-document.ts"
import { readJson } from "../shared/read-json.ts"
import { inside, itemsOf, type Spot, whole, wordUnder } from "../spot.ts"

export const BRAND = { id: "windsurf", title: "Windsurf" }

export const chat = listedDocument({
  brand: BRAND,
  key: "messages",
  start: tabStart,
  title: tabTitle,
  facts: (item) => ({ id: bubbleId(item) }),
  drafts: (item, note) => (inside(item, "message") === undefined ? tabDrafts(item, note) : requestDrafts(item)),
})

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  return mainFileOf(unit).relativePath.endsWith(".jsonl")
    ? parseTranscript(unit, sink, resume)
    : chat.parse(unit, sink, resume)
}

/** A prompt with its answer, in pieces. */
function requestDrafts(request: Spot): MessageDraft[] {
  const message = inside(request, "message")
  const asked = message && nonEmptyTextUnder(message, "text")
  const answers = itemsOf(inside(request, "response")).flatMap((piece) => nonEmptyTextUnder(piece, "value") ?? [])
  const said = (texts: readonly NonNullable<typeof asked>[]) =>
    texts.map((text) => textPart({ provenance: "conversational", text }))
  return [
    ...spoken({ role: "user", parts: said(asked === undefined ? [] : [asked]) }),
    ...spoken({ role: "assistant", parts: said(answers) }),
  ]
}

// --- Transcripts ----------------------------------------------------------------------------------------------------------

/** Neither a moment nor a folder is said: those of the file have to do. */
function parseTranscript(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const id = matchIn(sealedRelativePath(main), /([^/]+)\.jsonl$/)
  const product = sealedOrigin(BRAND)
  return {
    push(raw) {
      const record = readJson(raw, writer)
      writer.begin({ id, sourceAgent: product, project: product })
      if (record === undefined) return
      const drafts = stepDrafts(whole(record), writer.noteOn(raw))
      writer.record(raw, record, drafts)
    },
    end: writer.end,
  }
}

function stepDrafts(step: Spot, note: Note): MessageDraft[] {
  const kind = wordUnder(step.value, "type")
  const own = kind === undefined ? undefined : inside(step, kind)
  if (kind === undefined || own === undefined) {
    note("unknown_record", kind === undefined ? "a line of no type" : `a line of type ${kind} that says nothing`)
    return []
  }
  if (kind === "user_input") {
    const text = nonEmptyTextUnder(own, "user_response")
    return spoken({ role: "user", parts: text === undefined ? [] : [textPart({ provenance: "conversational", text })] })
  }
  if (kind === "planner_response") return spoken({ role: "assistant", parts: plannedParts(own) })
  return callDrafts(step, own)
}

function plannedParts(own: Spot): PartDraft<"text" | "reasoning">[] {
  const [thought, text] = [nonEmptyTextUnder(own, "thinking"), nonEmptyTextUnder(own, "response")]
  return [
    ...(thought === undefined ? [] : [reasoningPart({ provenance: "conversational", text: thought })]),
    ...(text === undefined ? [] : [textPart({ provenance: "conversational", text })]),
  ]
}

/** A call and what came of it are one line, without an id: the name has to do. */
function callDrafts(step: Spot, own: Spot): MessageDraft[] {
  const name = nonEmptyStringUnder(own, "tool_name") ?? nonEmptyStringUnder(step, "type")
  const [written, answer] = [stringUnder(own, "arguments"), stringUnder(own, "result")]
  const params = written === undefined ? jsonHere(own) : (jsonIn(written) ?? asJson(written))
  if (name === undefined) return []
  const call = toolCallPart({ provenance: "conversational", callId: name, name, params })
  const isWhole = written === undefined || answer === undefined
  return [
    { role: "assistant", parts: [call] },
    ...(isWhole
      ? []
      : [
          {
            role: "tool" as const,
            parts: [
              toolResultPart({
                provenance: "injected",
                callId: name,
                name,
                isFailure: undefined,
                result: asJson(answer),
              }),
            ],
          },
        ]),
  ]
}
