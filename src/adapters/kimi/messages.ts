/** What a message of Kimi holds, in both its clients: parts, calls, results, and who said it. */
import type { RawRecord } from "../adapter.ts"
import {
  flagOf,
  jsonHere,
  jsonIn,
  jsonUnder,
  nameOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  type Sealed,
  splitAt,
  stringHere,
  stringUnder,
  testIn,
} from "../extract.ts"
import { asTitle, type Note } from "../notes.ts"
import {
  injectedText,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import type { MessageDraft, SessionWriter } from "../session-writer.ts"
import { fileOfUrl } from "../shared/common-parts.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"
import { injectedByOrigin, injectedByText } from "./provenance.ts"

/** A record or a part that was read and kept, and not understood, is noted. */

type Fields = Pick<MessageDraft, "id" | "timestamp">
type SaidPart = PartDraft<"text" | "file" | "reasoning" | "opaque">

/** A whole message: what a person said, an old answer with its calls, a result. */
export function messageDrafts(message: Spot, { timestamp }: Fields, note: Note): MessageDraft[] {
  const fields = { timestamp, id: nonEmptyStringUnder(message, "id") }
  const content = inside(message, "content")
  switch (wordUnder(message.value, "role")) {
    case "user":
      return [{ ...fields, role: "user", parts: userParts(message, content, note) }]
    case "assistant": {
      const said = contentPieces(content).flatMap((piece) => modelPart(piece, note))
      return [{ ...fields, role: "assistant", parts: [...said, ...callsIn(message)] }]
    }
    case "tool":
      return resultOf(message, content, fields)
    case "system":
      return [{ ...fields, role: "system", content: content && stringHere(content) }]
    default:
      note("unknown_record", "a message of no known role")
      return []
  }
}

/** A text, or a list of parts. */
function contentPieces(content: Spot | undefined): readonly Spot[] {
  if (content === undefined) return []
  return typeof content.value === "string" ? [content] : itemsOf(content)
}

function pieceText(piece: Spot): Placed<string> | undefined {
  if (typeof piece.value === "string") return stringHere(piece)
  return wordUnder(piece.value, "type") === "text" ? stringUnder(piece, "text") : undefined
}

// --- What a person said, and what the client said there --------------------------------------------------------------------

function userParts(message: Spot, content: Spot | undefined, note: Note): PartDraft<"text" | "file" | "opaque">[] {
  const origin = inside(message, "origin")
  const injected = origin === undefined ? undefined : injectedByOrigin(origin.value)
  return contentPieces(content).flatMap((piece): PartDraft<"text" | "file" | "opaque">[] => {
    const text = pieceText(piece)
    if (text === undefined) return mediaPart(piece, injected, note)
    if (text.value === "") return []
    if (injected !== undefined) return [injectedText(text, injected)]
    // Where nothing says who said it, the words do.
    return injectedByText(text.value, origin === undefined).flatMap(({ end, begin, kind }) => {
      const [part] = splitAt(text, [begin, end]).slice(begin === 0 ? 0 : 1)
      if (part === undefined) return []
      return [kind === undefined ? textPart({ provenance: "conversational", text: part }) : injectedText(part, kind)]
    })
  })
}

/** The summary that stands in the place of what was said, as its model is told of it. */
export function summaryDrafts(record: Spot, fields: Fields): MessageDraft[] {
  const old = inside(record, "summary")
  const text = nonEmptyTextUnder(record, "contextSummary") ?? nonEmptyTextUnder(record, "summary")
  const all = text === undefined ? contentPieces(old && inside(old, "content")).map(pieceText) : [text]
  const parts = all.flatMap((each) => (each === undefined ? [] : [injectedText(each, "compact-summary")]))
  return [{ ...fields, role: "user", parts }]
}

// --- What the model said ------------------------------------------------------------------------------------------------

export function partDrafts(event: Spot, fields: Fields, note: Note): MessageDraft[] {
  const part = inside(event, "part")
  return [{ ...fields, role: "assistant", parts: part === undefined ? [] : modelPart(part, note) }]
}

function modelPart(piece: Spot, note: Note): SaidPart[] {
  const text = pieceText(piece)
  if (text !== undefined) return text.value === "" ? [] : [textPart({ provenance: "conversational", text })]
  const thought = wordUnder(piece.value, "type") === "think" ? stringUnder(piece, "think") : undefined
  if (thought !== undefined) return [reasoningPart({ provenance: "conversational", text: thought })]
  return mediaPart(piece, undefined, note)
}

export function toolCallDrafts(event: Spot, fields: Fields): MessageDraft[] {
  const callId = nonEmptyStringUnder(event, "toolCallId")
  const name = nonEmptyStringUnder(event, "name")
  const params = jsonUnder(event, "args")
  const parts =
    callId === undefined || name === undefined || params === undefined
      ? unread(event)
      : [toolCallPart({ provenance: "conversational", callId, name, params })]
  return [{ ...fields, role: "assistant", parts }]
}

/** Of an old answer: flat, or with the name and the arguments inside `function`. The arguments are JSON as text. */
function callsIn(message: Spot): PartDraft<"tool_call" | "opaque">[] {
  const calls = inside(message, "toolCalls") ?? inside(message, "tool_calls")
  return itemsOf(calls).flatMap((call): PartDraft<"tool_call" | "opaque">[] => {
    const named = inside(call, "function") ?? call
    const callId = nonEmptyStringUnder(call, "id")
    const name = nonEmptyStringUnder(named, "name")
    const said = stringUnder(named, "arguments")
    const params = (said && jsonIn(said)) ?? jsonUnder(named, "arguments")
    if (callId === undefined || name === undefined || params === undefined) return unread(call)
    return [toolCallPart({ provenance: "conversational", callId, name, params })]
  })
}

// --- What a tool answered -----------------------------------------------------------------------------------------------

export function resultDrafts(event: Spot, fields: Fields): MessageDraft[] {
  const result = inside(event, "result")
  const output = result && inside(result, "output")
  const callId = nonEmptyStringUnder(event, "toolCallId")
  if (result === undefined || output === undefined || callId === undefined)
    return [{ ...fields, role: "tool", parts: unread(event) }]
  const isFailure = flagOf(result.value, "isError")
  return [{ ...fields, role: "tool", parts: [kimiResult(callId, isFailure, output)] }]
}

/** kimi-cli says in the text alone that a call failed. */
const FAILED = /^<system>ERROR\b/

function resultOf(message: Spot, content: Spot | undefined, fields: Fields): MessageDraft[] {
  const callId = nonEmptyStringUnder(message, "toolCallId") ?? nonEmptyStringUnder(message, "tool_call_id")
  if (callId === undefined || content === undefined) return [{ ...fields, role: "tool", parts: unread(message) }]
  const first = contentPieces(content)[0]
  const said = first && pieceText(first)
  const isFailure = flagOf(message.value, "isError") ?? (said && testIn(said, FAILED))
  return [{ ...fields, role: "tool", parts: [kimiResult(callId, isFailure, content)] }]
}

function kimiResult(callId: Sealed<string>, isFailure: Sealed<boolean> | undefined, result: Spot) {
  return toolResultPart({ provenance: "injected", callId, isFailure, result: jsonHere(result) })
}

// --- Media, and what is not understood ----------------------------------------------------------------------------------

const MEDIA: Readonly<Record<string, readonly [camel: string, snake: string]>> = {
  image_url: ["imageUrl", "image_url"],
  audio_url: ["audioUrl", "audio_url"],
  video_url: ["videoUrl", "video_url"],
}

function mediaPart(piece: Spot, injected: string | undefined, note: Note): PartDraft<"file" | "opaque">[] {
  const type = wordUnder(piece.value, "type")
  const keys = type === undefined ? undefined : MEDIA[type]
  const holder = keys && (inside(piece, keys[0]) ?? inside(piece, keys[1]))
  const url = holder && stringUnder(holder, "url")
  if (url === undefined) {
    note("unknown_part", type ?? "a part of no type")
    return unread(piece)
  }
  return [fileOfUrl(url, injected === undefined ? {} : { provenance: "injected", pond: { injected } })]
}

function unread({ value }: { readonly value: SourceValue }): PartDraft<"opaque">[] {
  const kind = nameOf(value, "type") ?? nameOf(value, "role")
  return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
}

// --- What is said of a session -----------------------------------------------------------------------------------------

/** The document of a session is written anew all the time; its title may change. */
export function takeState(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const pond = asTitle(wordUnder(record, "title") ?? wordUnder(record, "custom_title"))
  writer.carrier(raw, record, { id: nonEmptyStringAt(record, "id"), pond })
}
