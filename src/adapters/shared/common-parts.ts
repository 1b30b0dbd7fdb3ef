/**
 * Parts that several clients write in one form: a picture by its URL, a call as OpenAI's API has it, and what no parser knows.
 */
import {
  dataUrlIn,
  jsonOrText,
  jsonUnder,
  nonEmptyStringUnder,
  type Placed,
  plain,
  type Sealed,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { filePart, opaquePart, type PartDraft, toolCallPart } from "../parts.ts"
import { inside, type Spot } from "../spot.ts"

/** A picture, or another file, that a URL names or holds. `beside`: what its record says of it otherwise. */
export function fileOfUrl(
  url: Placed<string>,
  beside: Partial<Omit<Parameters<typeof filePart>[0], "data">> = {},
): PartDraft<"file"> {
  const inline = dataUrlIn(url)
  return filePart({
    provenance: "conversational",
    ...beside,
    mediaType: inline?.mediaType ?? beside.mediaType,
    data: inline === undefined ? { url } : { base64: inline.base64 },
  })
}

/** `{id, function: {name, arguments}}`, with the arguments as JSON in a text. Undefined where one of them is missing. */
export function functionCall(
  call: Spot,
  called: Spot = inside(call, "function") ?? call,
  callId: Sealed<string> | undefined = nonEmptyStringUnder(call, "id"),
): PartDraft<"tool_call"> | undefined {
  const name = nonEmptyStringUnder(called, "name")
  const text = stringUnder(called, "arguments")
  const params = text === undefined ? jsonUnder(called, "arguments") : jsonOrText(text)
  if (callId === undefined || name === undefined || params === undefined) return undefined
  return toolCallPart({ provenance: "conversational", callId, name, params })
}

/** A block that the parser does not know, which says its own kind: it stays in its record, and is named. */
export function unknownBlock(block: Spot, note: Note): PartDraft<"opaque">[] {
  const kind = nonEmptyStringUnder(block, "type")
  note("unknown_part", kind === undefined ? "no type" : plain(kind))
  return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
}
