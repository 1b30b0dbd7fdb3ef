/**
 * ChatGPT to canonical: a conversation is one document with a tree of nodes, each of them a message or none. Which branch is
 * the live one is for `context.ts`. Reads top to bottom: the document, a node, its message, its content.
 */
import { stringifyJson } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  isAt,
  joined,
  jsonOrText,
  jsonUnder,
  matchIn,
  momentOfSeconds,
  nonEmptyOf,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  stringHere,
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
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { splitDocument } from "../shared/documents.ts"
import { spoken } from "../shared/listed-document.ts"
import { itemRecord, readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, valueUnder, whole, wordUnder } from "../spot.ts"
import { ASSET_IDS, BRAND, shape } from "./nodes.ts"
import { type Tree, treeOf } from "./tree.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)

  function begin(document: SourceValue): void {
    const id = nonEmptyOf(document, "conversation_id") ?? nonEmptyOf(document, "id") ?? matchIn(placeOf(main), NAME)
    const createdAt = timeUnder(document, "create_time")
    const product = sealedOrigin(BRAND)
    const group = nonEmptyOf(document, "gizmo_id")
    // No conversation names a directory. Those of a project, or of a GPT, belong together.
    const project = group === undefined ? product : joined([product, group], "/")
    writer.begin({ id, sourceAgent: product, project, createdAt })
  }

  return {
    push(raw) {
      const document = readJson(raw, writer)
      if (raw.file.form !== "document") return
      if (document === undefined) return begin(null)
      const split = splitDocument(document, shape)
      begin(document)
      const pond = asTitle(wordUnder(document, "title"))
      writer.carrier(raw, split?.header ?? document, { id: sealedRelativePath(raw.file), pond })
      if (split === undefined) return
      const tree = treeOf(split.items, wordUnder(document, "current_node"))
      for (const node of tree.inOrder) takeNode(writer, raw, node, tree)
    },
    end: writer.end,
  }
}

const NAME = /([^/]+)\.json$/
const placeOf = sealedRelativePath

/** Seconds. A node without a time has 0, or nothing. */
function timeUnder(value: SourceValue, key: string): Sealed<string> | undefined {
  const seconds = valueUnder(value, key)
  return typeof seconds === "number" && seconds > 0 ? momentOfSeconds(value, key) : undefined
}

// --- A node -------------------------------------------------------------------------------------------------------------

interface Said {
  readonly message: Spot
  readonly content: Spot
  readonly kind: string
  readonly isHidden: boolean
  readonly note: Note
}

function takeNode(writer: SessionWriter, raw: RawRecord, node: SourceValue, tree: Tree<SourceValue>): void {
  const own = itemRecord(raw, stringifyJson(node))
  const note = writer.noteOn(own)
  const id = nonEmptyOf(node, "id")
  const message = inside(whole(node), "message")
  const content = message && inside(message, "content")
  const drafts =
    message === undefined || content === undefined
      ? []
      : draftsOf({ message, content, ...factsOf(message, content), note }, () => callBefore(node, tree))
  const timestamp = message && timeUnder(message.value, "create_time")
  writer.record(own, node, drafts, { id, timestamp })
}

function factsOf(message: Spot, content: Spot): Pick<Said, "kind" | "isHidden"> {
  const metadata = inside(message, "metadata")?.value ?? null
  const isHidden = ["is_visually_hidden_from_conversation", "is_user_system_message"].some(
    (key) => valueUnder(metadata, key) === true,
  )
  return { kind: wordUnder(content.value, "content_type") ?? "", isHidden }
}

function draftsOf(said: Said, call: () => Sealed<string> | undefined): MessageDraft[] {
  const { message, content, kind, note } = said
  switch (wordUnder(inside(message, "author")?.value, "role")) {
    case "system": {
      const [first, ...more] = itemsOf(inside(content, "parts")).flatMap((part) => stringHere(part) ?? [])
      return first === undefined || first.value === "" || more.length > 0 ? [] : [{ role: "system", content: first }]
    }
    case "user":
      return spoken({ role: "user", parts: userParts(said) })
    case "assistant":
      return spoken({ role: "assistant", pond: modelFacts(message), parts: assistantParts(said) })
    case "tool":
      return spoken({ role: "tool", parts: resultParts(said, call()) })
    default:
      note("unknown_record", `a message of ${wordUnder(inside(message, "author")?.value, "role") ?? "nobody"}: ${kind}`)
      return []
  }
}

function modelFacts(message: Spot): MessageDraft["pond"] {
  const model = wordUnder(inside(message, "metadata")?.value, "model_slug")
  return model === undefined || model === "" ? undefined : { model }
}

// --- Content ------------------------------------------------------------------------------------------------------------

type Shown = PartDraft<"text" | "file" | "opaque">

function userParts(said: Said): Shown[] {
  const { message, content, kind, isHidden } = said
  if (kind === "user_editable_context" || kind === "model_editable_context")
    return CONTEXT_KEYS.flatMap((key) => contextText(nonEmptyTextUnder(content, key)))
  const parts = partsOf(said, isHidden ? "injected" : "conversational")
  return [...parts, ...attachmentsOf(message, content)]
}

const CONTEXT_KEYS = ["user_profile", "user_instructions", "model_set_context", "repository", "repo_summary"]

function contextText(text: Placed<string> | undefined): PartDraft<"text">[] {
  return text === undefined ? [] : [injectedText(text, "context")]
}

/** The items of `parts`, or the one text of a content that has none. */
function partsOf({ content, kind, note }: Said, provenance: "conversational" | "injected"): Shown[] {
  const pond = provenance === "injected" ? { injected: "context" } : undefined
  const text = kind === "code" ? nonEmptyTextUnder(content, "text") : undefined
  if (text !== undefined) return [textPart({ provenance, text, pond })]
  const items = itemsOf(inside(content, "parts"))
  const known = kind === "text" || kind === "multimodal_text"
  if (items.length === 0 && !known) return unread(content, kind, note)
  return items.flatMap((item): Shown[] => {
    const said = stringHere(item)
    if (said !== undefined) return said.value === "" ? [] : [textPart({ provenance, text: said, pond })]
    if (item.value === null) return []
    const heard = nonEmptyTextUnder(item, "text")
    if (heard !== undefined) return [textPart({ provenance, text: heard, pond })]
    const audio = inside(item, "audio_asset_pointer") ?? item
    const url = stringUnder(audio, "asset_pointer")
    if (url !== undefined) return [filePart({ provenance, mediaType: undefined, data: { url } })]
    return unread(item, wordUnder(item.value, "content_type") ?? "", note)
  })
}

/** Files that came with a prompt, but for those that its content shows. */
function attachmentsOf(message: Spot, content: Spot): Shown[] {
  const shown = new Set(stringifyJson(content.value).match(ASSET_IDS))
  const metadata = inside(message, "metadata")
  return itemsOf(metadata && inside(metadata, "attachments")).flatMap((attached): Shown[] => {
    const url = nonEmptyTextUnder(attached, "id")
    if (url === undefined || shown.has(url.value)) return []
    const [mediaType, fileName] = [nonEmptyStringUnder(attached, "mime_type"), nonEmptyStringUnder(attached, "name")]
    return [filePart({ provenance: "conversational", mediaType, fileName, data: { url } })]
  })
}

function unread(spot: Spot, kind: string, note: Note): PartDraft<"opaque">[] {
  note("unknown_part", kind === "" ? "content without a type" : kind)
  const named = nonEmptyStringUnder(spot, "content_type")
  return named === undefined ? [] : [opaquePart({ provenance: "injected", kind: named })]
}

function assistantParts(said: Said): (Shown | PartDraft<"reasoning" | "tool_call">)[] {
  const { message, content, kind, isHidden } = said
  const recipient = wordUnder(message.value, "recipient") ?? "all"
  if (recipient !== "all") return callParts(said) ?? partsOf(said, "conversational")
  if (kind === "thoughts")
    return itemsOf(inside(content, "thoughts")).flatMap((thought) => {
      const text = nonEmptyTextUnder(thought, "content") ?? nonEmptyTextUnder(thought, "summary")
      return text === undefined ? [] : [reasoningPart({ provenance: "conversational", text })]
    })
  // "Thought for 12 seconds": what the page shows, and no word of the model.
  if (kind === "reasoning_recap") return contextText(nonEmptyTextUnder(content, "content"))
  if (kind === "user_editable_context" || kind === "model_editable_context") return []
  return partsOf(said, isHidden ? "injected" : "conversational")
}

/** What is said to a tool is a call of it. It has no id but that of its message. */
function callParts({ message, content }: Said): PartDraft<"tool_call">[] | undefined {
  const [callId, name] = [nonEmptyStringUnder(message, "id"), nonEmptyStringUnder(message, "recipient")]
  const [part, ...more] = itemsOf(inside(content, "parts"))
  const text = stringUnder(content, "text") ?? (part === undefined || more.length > 0 ? undefined : stringHere(part))
  if (callId === undefined || name === undefined || text === undefined) return undefined
  return [toolCallPart({ provenance: "conversational", callId, name, params: jsonOrText(text) })]
}

function resultParts({ message, content, kind }: Said, call: Sealed<string> | undefined): PartDraft<"tool_result">[] {
  const callId = call ?? nonEmptyStringUnder(message, "id")
  const [part, ...more] = itemsOf(inside(content, "parts"))
  const only = part === undefined || more.length > 0 ? undefined : stringHere(part)
  const text = only ?? (PLAIN_RESULTS.has(kind) ? stringUnder(content, "text") : undefined)
  const result = text === undefined ? jsonUnder(message, "content") : asJson(text)
  if (callId === undefined || result === undefined) return []
  const name = nonEmptyOf(inside(message, "author")?.value ?? null, "name")
  const isFailure = isAt(content.value, "system_error", "content_type")
  return [toolResultPart({ provenance: "injected", callId, name, isFailure, result })]
}

/** Their text is all that they say. */
const PLAIN_RESULTS: ReadonlySet<string> = new Set(["execution_output", "system_error", "text", "code"])

/** A result does not name its call. It belongs to the nearest call above of the same tool, or of any tool where the export leaves that one out. */
function callBefore(node: SourceValue, tree: Tree<SourceValue>): Sealed<string> | undefined {
  const name = wordUnder(valueUnder(valueUnder(node, "message") ?? null, "author"), "name")
  const calls = tree.ancestors(node).flatMap((above): { message: SourceValue; to: string }[] => {
    const message: SourceValue = valueUnder(above, "message") ?? null
    const to = wordUnder(message, "recipient")
    const isCall = wordUnder(valueUnder(message, "author"), "role") === "assistant" && to !== undefined && to !== "all"
    return isCall ? [{ message, to }] : []
  })
  const found = calls.find(({ to }) => to === name) ?? calls.find(({ to }) => isKin(to, name)) ?? calls[0]
  return found && nonEmptyOf(found.message, "id")
}

/** `canmore.create_textdoc` is called, and `canmore` answers. */
function isKin(to: string, name: string | undefined): boolean {
  return name !== undefined && (to.startsWith(`${name}.`) || name.startsWith(`${to}.`))
}
