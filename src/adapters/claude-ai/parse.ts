/**
 * Claude.ai to canonical: a conversation is one document with its messages. An answer has its calls and, behind each, its
 * result: it becomes several messages. Reads top to bottom: the document, a message, its blocks.
 */
import { stringifyJson } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  flagOf,
  joined,
  jsonUnder,
  matchIn,
  momentOf,
  nonEmptyOf,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
} from "../extract.ts"
import { asTitle, type Note } from "../notes.ts"
import { filePart, type PartDraft, reasoningPart, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, isFilled, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { unknownBlock } from "../shared/common-parts.ts"
import { splitDocument } from "../shared/documents.ts"
import { itemRecord, readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, whole, wordUnder } from "../spot.ts"
import { BRAND, shape } from "./documents.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const calls = createOpenCalls()

  function begin(document: SourceValue): void {
    const id = nonEmptyOf(document, "uuid") ?? matchIn(sealedRelativePath(main), NAME)
    const createdAt = momentOf(document, "created_at")
    const product = sealedOrigin(BRAND)
    const group = nonEmptyOf(document, "project_uuid")
    // No conversation names a directory. Where an export says which project one is of, those of it belong together.
    const project = group === undefined ? product : joined([product, group], "/")
    writer.begin({ id, sourceAgent: product, project, createdAt })
  }

  return {
    push(raw) {
      const document = readJson(raw, writer)
      begin(document ?? null)
      if (document === undefined) return
      const split = splitDocument(document, shape)
      const pond = asTitle(wordUnder(document, "name"))
      writer.carrier(raw, split?.header ?? document, { id: sealedRelativePath(raw.file), pond })
      for (const item of split?.items ?? []) takeMessage(writer, raw, item, calls)
    },
    end: writer.end,
  }
}

const NAME = /([^/]+)\.json$/

/** Calls whose result has not come, as they were named: some results name their tool alone. */
interface OpenCalls {
  open(name: string, callId: Sealed<string>): void
  /** The newest one of that name. */
  close(name: string): Sealed<string> | undefined
}

function createOpenCalls(): OpenCalls {
  const calls: { readonly name: string; readonly callId: Sealed<string> }[] = []
  return {
    open: (name, callId) => void calls.push({ name, callId }),
    close: (name) => {
      const at = calls.findLastIndex((call) => call.name === name)
      return at < 0 ? undefined : calls.splice(at, 1)[0]?.callId
    },
  }
}

// --- A message ----------------------------------------------------------------------------------------------------------

function takeMessage(writer: SessionWriter, raw: RawRecord, item: SourceValue, calls: OpenCalls): void {
  const own = itemRecord(raw, stringifyJson(item))
  const note = writer.noteOn(own)
  const id = nonEmptyOf(item, "uuid")
  const timestamp = momentOf(item, "created_at")
  writer.record(own, item, draftsOf(whole(item), note, calls), { id, timestamp })
}

function draftsOf(message: Spot, note: Note, calls: OpenCalls): MessageDraft[] {
  const sender = wordUnder(message.value, "sender")
  if (sender !== "human" && sender !== "assistant") {
    note("unknown_record", `a message of ${sender ?? "nobody"}`)
    return []
  }
  const blocks = itemsOf(inside(message, "content"))
  const drafts: MessageDraft[] = []
  let said: Shown[] = []
  let results: PartDraft<"tool_result">[] = []
  const endSaid = (): void => {
    if (sender === "assistant" && isFilled(said)) drafts.push({ role: "assistant", parts: said })
    // A person neither thinks nor calls: such blocks of theirs were not read.
    else if (isFilled(said)) drafts.push({ role: "user", parts: said.filter(isOfPerson) })
    said = []
  }
  const endResults = (): void => {
    if (isFilled(results)) drafts.push({ role: "tool", parts: results })
    results = []
  }
  for (const block of blocks) {
    const result = resultPart(block, calls)
    if (result === undefined) endResults()
    else endSaid()
    if (result === undefined) said.push(...shownParts(block, { message, sender, note, calls }))
    else results.push(result)
  }
  endResults()
  if (blocks.length === 0) said.push(...flatText(message))
  if (sender === "human") said.push(...attachedParts(message))
  endSaid()
  return drafts
}

/** Older exports have no blocks: the text is all that there is. Otherwise it is their text again. */
function flatText(message: Spot): Shown[] {
  const text = nonEmptyTextUnder(message, "text")
  return text === undefined ? [] : [textPart({ provenance: "conversational", text })]
}

// --- Its blocks ---------------------------------------------------------------------------------------------------------

type Shown = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "opaque">

function isOfPerson(part: Shown): part is PartDraft<"text" | "file" | "opaque"> {
  return part.type === "text" || part.type === "file" || part.type === "opaque"
}

interface Around {
  readonly message: Spot
  readonly sender: "human" | "assistant"
  readonly note: Note
  readonly calls: OpenCalls
}

function shownParts(block: Spot, around: Around): Shown[] {
  const kind = wordUnder(block.value, "type")
  const { sender } = around
  switch (kind) {
    case "text":
    case "voice_note": {
      const text = stringUnder(block, "text")
      if (text === undefined || text.value === "") return text === undefined ? unknownBlock(block, around.note) : []
      return [textPart({ provenance: "conversational", text })]
    }
    case "thinking": {
      const text = stringUnder(block, "thinking")
      if (text === undefined || sender === "human") return unknownBlock(block, around.note)
      return [reasoningPart({ provenance: "conversational", text })]
    }
    case "tool_use":
      return sender === "human"
        ? unknownBlock(block, around.note)
        : (callParts(block, around) ?? unknownBlock(block, around.note))
    case "token_budget":
      return []
    default:
      return unknownBlock(block, around.note)
  }
}

/** Of a call without an id its message, its name and its moment are one. */
function callParts(block: Spot, { message, calls }: Around): PartDraft<"tool_call">[] | undefined {
  const [name, params] = [nonEmptyStringUnder(block, "name"), jsonUnder(block, "input")]
  const own = [message, block].flatMap(
    ({ value }, at) => nonEmptyOf(value, at === 0 ? "uuid" : "start_timestamp") ?? [],
  )
  if (name === undefined || params === undefined) return undefined
  const callId = nonEmptyStringUnder(block, "id") ?? joined([name, ...own], " ")
  calls.open(wordUnder(block.value, "name") ?? "", callId)
  return [toolCallPart({ provenance: "conversational", callId, name, params })]
}

function resultPart(block: Spot, calls: OpenCalls): PartDraft<"tool_result"> | undefined {
  if (wordUnder(block.value, "type") !== "tool_result") return undefined
  const open = calls.close(wordUnder(block.value, "name") ?? "")
  const callId = nonEmptyStringUnder(block, "tool_use_id") ?? open
  const text = stringUnder(block, "content")
  const result = text === undefined ? jsonUnder(block, "content") : asJson(text)
  if (callId === undefined || result === undefined) return undefined
  const name = nonEmptyStringUnder(block, "name")
  return toolResultPart({ provenance: "injected", callId, name, isFailure: flagOf(block.value, "is_error"), result })
}

/** What was read out of a file for the model; a long text that was pasted is one without a name. Of other files only names are there. */
function attachedParts(message: Spot): PartDraft<"file">[] {
  const attached = itemsOf(inside(message, "attachments")).flatMap((item): PartDraft<"file">[] => {
    const text = stringUnder(item, "extracted_content")
    const fileName = nonEmptyStringUnder(item, "file_name")
    if (text === undefined) return []
    const isPasted = fileName === undefined || wordUnder(item.value, "file_name") === "paste.txt"
    const type = nonEmptyStringUnder(item, "file_type")
    const mediaType = type && matchIn(type, /^(\w+\/[\w.+-]+)$/)
    const data = { text }
    return [filePart({ provenance: isPasted ? "conversational" : "injected", mediaType, fileName, data })]
  })
  const named = itemsOf(inside(message, "files")).flatMap((item): PartDraft<"file">[] => {
    const url = nonEmptyTextUnder(item, "file_uuid") ?? nonEmptyTextUnder(item, "file_name")
    const fileName = nonEmptyStringUnder(item, "file_name")
    return url === undefined
      ? []
      : [filePart({ provenance: "conversational", mediaType: undefined, fileName, data: { url } })]
  })
  return [...attached, ...named]
}
