/**
 * A chat of Visual Studio Code to canonical: one document with its requests. A request has what a person asked, what was shown
 * of the answer, and, where the extension of Copilot answered, each step of the model with its calls and their results. Reads
 * top to bottom: the document, a request, the steps of the model, what was shown.
 */
import { isJsonObject, stringifyJson } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  jsonOrText,
  jsonUnder,
  matchIn,
  momentOf,
  nonEmptyOf,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  pathInUrl,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
} from "../extract.ts"
import { asTitle, type Note } from "../notes.ts"
import {
  filePart,
  injectedText,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import { createSessionWriter, isFilled, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { splitDocument } from "../shared/documents.ts"
import { itemRecord, readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, valueUnder, whole, wordUnder } from "../spot.ts"
import { BRAND, shape } from "./documents.ts"
import { screenDrafts, textsAfterCalls } from "./screen.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  let chat: SourceValue = null
  let folder: SourceValue = null
  let hasRecords = false

  function takeDocument(raw: RawRecord, document: SourceValue): void {
    const state = fieldsOf(document)["v"]
    chat = isJsonObject(state) ? state : document
    const split = splitDocument(document, shape)
    const pond = asTitle(wordUnder(chat, "customTitle") ?? wordUnder(chat, "computedTitle"))
    writer.carrier(raw, split?.header ?? document, { id: sealedRelativePath(raw.file), pond })
    for (const line of fieldsOf(document)["pond:unread"] === undefined ? [] : ["a line that changes nothing"])
      writer.issue(raw, { kind: "unparsable_line", severity: "fault", found: line })
    for (const item of split?.items ?? []) takeRequest(writer, raw, item)
  }

  /** The folder comes behind the chat. */
  function begin(): void {
    const place = sealedRelativePath(main)
    const id = nonEmptyOf(chat, "sessionId") ?? matchIn(place, NAME)
    const createdAt = momentOf(chat, "creationDate")
    const url = nonEmptyOf(folder, "folder") ?? nonEmptyOf(folder, "workspace") ?? nonEmptyOf(chat, "workingDirectory")
    const directory = url && (pathInUrl(url) ?? url)
    writer.begin({ id, sourceAgent: sealedOrigin(BRAND), project: directory ?? sealedOrigin(BRAND), createdAt })
  }

  return {
    push(raw) {
      hasRecords = true
      const record = readJson(raw, writer)
      if (record === undefined) return
      if (raw.file.relativePath === main.relativePath) return takeDocument(raw, record)
      folder = record
      writer.carrier(raw, record, { id: sealedRelativePath(raw.file) })
    },
    end() {
      if (!writer.hasBegun && hasRecords) begin()
      writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

const NAME = /([^/]+)\.jsonl?$/

// --- A request ----------------------------------------------------------------------------------------------------------

function takeRequest(writer: SessionWriter, raw: RawRecord, request: SourceValue): void {
  const own = itemRecord(raw, stringifyJson(request))
  const note = writer.noteOn(own)
  const id = nonEmptyOf(request, "requestId")
  const spot = whole(request)
  const asked = { role: "user", parts: [...promptParts(spot), ...attachedParts(spot, note)] } as const
  const drafts = [...(isFilled(asked.parts) ? [asked] : []), ...answerDrafts(spot, note)]
  const timestamp = drafts.length === 0 ? undefined : momentOf(request, "timestamp")
  writer.record(own, request, drafts, { id, timestamp })
}

/** What was typed. A request that the editor made is not the person's. */
function promptParts(request: Spot): PartDraft<"text">[] {
  const message = inside(request, "message")
  const text = nonEmptyTextUnder(request, "message") ?? (message && nonEmptyTextUnder(message, "text"))
  if (text === undefined) return []
  if (valueUnder(request.value, "isSystemInitiated") !== true) return [textPart({ provenance: "conversational", text })]
  return [injectedText(text, "context")]
}

/** Files that a prompt names, and pictures that were pasted. */
function attachedParts(request: Spot, note: Note): PartDraft<"file" | "opaque">[] {
  const data = inside(request, "variableData")
  return itemsOf(data && inside(data, "variables")).flatMap((variable): PartDraft<"file" | "opaque">[] => {
    const fileName = nonEmptyStringUnder(variable, "name")
    const value = inside(variable, "value")
    const [mediaType, base64] = [nonEmptyStringUnder(variable, "mimeType"), stringUnder(variable, "value")]
    if (base64 !== undefined && wordUnder(variable.value, "kind") === "image")
      return [filePart({ provenance: "conversational", mediaType, fileName, data: { base64 } })]
    const at = value && (inside(value, "uri") ?? value)
    const url = at && (nonEmptyTextUnder(at, "external") ?? nonEmptyTextUnder(at, "path"))
    if (url !== undefined)
      return [filePart({ provenance: "conversational", mediaType: undefined, fileName, data: { url } })]
    const kind = nonEmptyStringUnder(variable, "kind")
    if (kind === undefined) note("unknown_part", "an attachment without a kind")
    return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
  })
}

// --- What the model said, step by step ------------------------------------------------------------------------------------

function answerDrafts(request: Spot, note: Note): MessageDraft[] {
  const result = inside(request, "result")
  const metadata = result && inside(result, "metadata")
  const rounds = itemsOf(metadata && inside(metadata, "toolCallRounds"))
  const model = wordUnder(request.value, "modelId")
  const pond = model === undefined || model === "" ? undefined : { model }
  if (metadata === undefined || rounds.length === 0) return screenDrafts(request, pond, note)
  const results = resultsIn(inside(metadata, "toolCallResults"))
  const steps = rounds.flatMap((round) => stepDrafts(round, results, pond))
  // The last step of some answers is only on the screen.
  const isOpen = itemsOf(inside(rounds.at(-1) as Spot, "toolCalls")).length > 0
  const shown = isOpen ? textsAfterCalls(request) : []
  const last: MessageDraft[] = isFilled(shown) ? [{ role: "assistant", pond, parts: shown }] : []
  return [...steps, ...last, ...summaryDrafts(inside(metadata, "summary"))]
}

/** Each is taken once: where ids were overwritten, several calls have one. */
type Results = (callId: string) => Spot | undefined

function resultsIn(results: Spot | undefined): Results {
  const taken = new Set<string>()
  return (callId) => {
    if (results === undefined || taken.has(callId)) return undefined
    taken.add(callId)
    return inside(results, callId)
  }
}

function stepDrafts(round: Spot, results: Results, pond: MessageDraft["pond"]): MessageDraft[] {
  const calls = itemsOf(inside(round, "toolCalls"))
  const text = nonEmptyTextUnder(round, "response")
  const parts = [
    ...thoughtsIn(inside(round, "thinking")),
    ...(text === undefined ? [] : [textPart({ provenance: "conversational", text })]),
    ...calls.flatMap(roundCall),
  ]
  const answers = calls.flatMap((call) => roundResult(call, results))
  return [
    ...(isFilled(parts) ? [{ role: "assistant", pond, parts } as const] : []),
    ...(isFilled(answers) ? [{ role: "tool", parts: answers } as const] : []),
    ...summaryDrafts(round),
  ]
}

function thoughtsIn(thinking: Spot | undefined): PartDraft<"reasoning">[] {
  if (thinking === undefined) return []
  const text = nonEmptyTextUnder(thinking, "text")
  const texts =
    text === undefined ? itemsOf(inside(thinking, "text")).flatMap((_, at) => textAtIndex(thinking, at)) : [text]
  return texts.map((said) => reasoningPart({ provenance: "conversational", text: said }))
}

function textAtIndex(thinking: Spot, at: number): Placed<string>[] {
  const list = inside(thinking, "text")
  const text = list && nonEmptyTextUnder(list, at)
  return text === undefined ? [] : [text]
}

function roundCall(call: Spot): PartDraft<"tool_call">[] {
  const [callId, name] = [nonEmptyStringUnder(call, "id"), nonEmptyStringUnder(call, "name")]
  const text = stringUnder(call, "arguments")
  if (callId === undefined || name === undefined || text === undefined) return []
  return [toolCallPart({ provenance: "conversational", callId, name, params: jsonOrText(text) })]
}

function roundResult(call: Spot, results: Results): PartDraft<"tool_result">[] {
  const callId = nonEmptyStringUnder(call, "id")
  const answer = callId === undefined ? undefined : results(wordUnder(call.value, "id") ?? "")
  const [piece, ...more] = itemsOf(answer && inside(answer, "content"))
  const text = piece === undefined || more.length > 0 ? undefined : stringUnder(piece, "value")
  const result = text === undefined ? answer && jsonUnder(answer, "content") : asJson(text)
  if (callId === undefined || result === undefined) return []
  return [toolResultPart({ provenance: "injected", callId, name: nonEmptyStringUnder(call, "name"), result })]
}

/** What stands for all before it from then on: text of a round, or of the request that names one. */
function summaryDrafts(holder: Spot | undefined): MessageDraft[] {
  const text =
    holder &&
    (nonEmptyTextUnder(holder, "summary") ??
      (wordUnder(holder.value, "toolCallRoundId") === undefined ? undefined : nonEmptyTextUnder(holder, "text")))
  if (text === undefined) return []
  return [{ role: "user", parts: [injectedText(text, "compact-summary")] }]
}
