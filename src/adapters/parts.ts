/**
 * The makers of parts. Each takes sealed values and a provenance that cannot be left out (`adapter-provenance-required`).
 * A draft knows where its heavy value stood, so that the value is stored once: in the part, and no more in the record.
 */
import type { JsonValue } from "../model/json.ts"
import type { FileContent, Part, Provenance } from "../model/session.ts"
import { type Placed, plain, type Sealed } from "./extract.ts"

type Distributed<T> = T extends Part ? Omit<T, "id" | "session_id" | "message_id" | "options"> : never
export type PartBody = Distributed<Part>
type BodyByType = { readonly [T in PartBody["type"]]: Extract<PartBody, { type: T }> }

/** The fields of a part that can be taken out of a record. */
export type LiftedField = "text" | "params" | "result" | "data"

declare const made: unique symbol

/** Only the makers of this file have it: a part that is written down by hand does not compile. */
interface Made {
  readonly [made]: true
}

/**
 * A whole part but for its ids and its options, which the session writer fills in: each part is made once, in the shape that
 * it keeps. Until then its options hold what is to become of it (`Pending`).
 */
export type PartDraft<T extends PartBody["type"] = PartBody["type"]> = Made & BodyByType[T]

/** What the session writer has to know of a part beside the part. A class for its fixed shape alone. */
export class Pending {
  /** Which field holds the heavy value of the part, and that value as it was read. A part has one at most. */
  readonly lift: LiftedField | undefined
  readonly heavy: Placed<JsonValue> | Placed<string> | undefined
  /** Facts that pond adds. */
  readonly pond: Record<string, JsonValue> | undefined

  constructor(lift: Pending["lift"], heavy: Pending["heavy"], pond: Pending["pond"]) {
    this.lift = lift
    this.heavy = heavy
    this.pond = pond
  }
}

interface Common {
  readonly provenance: Provenance
  readonly id?: Sealed<string> | undefined
  /** What kind of injected text this is, and the like: facts that pond adds for later readers. */
  readonly pond?: Record<string, JsonValue> | undefined
}

export function textPart(fields: Common & { readonly text: Placed<string> }): PartDraft<"text"> {
  const { provenance, text, pond } = fields
  const options = new Pending("text", text, pond)
  const id = idIn(fields)
  return drafted({ type: "text", provenance, text: text.value, id, session_id: "", message_id: "", options })
}

/** A text that a client put there, and no person or model wrote; `injected` is its kind. */
export function injectedText(text: Placed<string>, injected: string): PartDraft<"text"> {
  return textPart({ provenance: "injected", text, pond: { injected } })
}

export function reasoningPart(fields: Common & { readonly text: Placed<string> }): PartDraft<"reasoning"> {
  const { provenance, text, pond } = fields
  const options = new Pending("text", text, pond)
  const id = idIn(fields)
  return drafted({ type: "reasoning", provenance, text: text.value, id, session_id: "", message_id: "", options })
}

export type FileSource =
  | { readonly base64: Placed<string> }
  | { readonly url: Placed<string> }
  | { readonly text: Placed<string> }

interface FileFields extends Common {
  /** Where the source names none, the generic type says that it is not known, as `model-no-synthesis` allows. */
  readonly mediaType: Sealed<string> | undefined
  readonly fileName?: Sealed<string> | undefined
  readonly data: FileSource
}

export function filePart(fields: FileFields): PartDraft<"file"> {
  const [data, value] = fileContent(fields.data)
  return drafted({
    type: "file",
    provenance: fields.provenance,
    media_type: fields.mediaType === undefined ? "application/octet-stream" : plain(fields.mediaType),
    ...(fields.fileName === undefined ? {} : { file_name: plain(fields.fileName) }),
    data,
    id: idIn(fields),
    session_id: "",
    message_id: "",
    options: new Pending("data", value, fields.pond),
  })
}

interface ToolCallFields extends Common {
  readonly callId: Sealed<string>
  readonly name: Sealed<string>
  readonly params: Placed<JsonValue>
  /** Absent means that the client ran the tool, which is what a record without the mark says. */
  readonly providerExecuted?: Sealed<boolean> | undefined
}

export function toolCallPart(fields: ToolCallFields): PartDraft<"tool_call"> {
  const { provenance, callId, name, params, providerExecuted } = fields
  return drafted({
    type: "tool_call",
    provenance,
    call_id: plain(callId),
    name: plain(name),
    params: params.value,
    provider_executed: providerExecuted === undefined ? false : plain(providerExecuted),
    id: idIn(fields),
    session_id: "",
    message_id: "",
    options: new Pending("params", params, fields.pond),
  })
}

interface ToolResultFields extends Common {
  readonly callId: Sealed<string>
  readonly name?: Sealed<string> | undefined
  /** Absent means that it did not fail, which is what a record without the mark says: see `model-no-synthesis`. */
  readonly isFailure?: Sealed<boolean> | undefined
  readonly result: Placed<JsonValue>
}

export function toolResultPart(fields: ToolResultFields): PartDraft<"tool_result"> {
  const { provenance, callId, name, isFailure, result } = fields
  const options = new Pending("result", result, fields.pond)
  const type = "tool_result"
  const call_id = plain(callId)
  const is_failure = isFailure === undefined ? false : plain(isFailure)
  const id = idIn(fields)
  return name === undefined
    ? drafted({
        type,
        provenance,
        call_id,
        is_failure,
        result: result.value,
        id,
        session_id: "",
        message_id: "",
        options,
      })
    : drafted({
        type,
        provenance,
        call_id,
        name: plain(name),
        is_failure,
        result: result.value,
        id,
        session_id: "",
        message_id: "",
        options,
      })
}

/** @public For clients that ask before a tool runs; none of the first four records it. */
export function approvalRequestPart(
  fields: Common & { readonly approvalId: Sealed<string>; readonly toolCallId: Sealed<string> },
): PartDraft<"tool_approval_request"> {
  const { provenance, approvalId, toolCallId } = fields
  return drafted({
    type: "tool_approval_request",
    provenance,
    approval_id: plain(approvalId),
    tool_call_id: plain(toolCallId),
    id: idIn(fields),
    session_id: "",
    message_id: "",
    options: new Pending(undefined, undefined, fields.pond),
  })
}

/** @public For clients that ask before a tool runs; none of the first four records it. */
export function approvalResponsePart(
  fields: Common & {
    readonly approvalId: Sealed<string>
    readonly approved: Sealed<boolean>
    readonly reason?: Sealed<string>
  },
): PartDraft<"tool_approval_response"> {
  const { provenance, approvalId, approved, reason } = fields
  return drafted({
    type: "tool_approval_response",
    provenance,
    approval_id: plain(approvalId),
    approved: plain(approved),
    ...(reason === undefined ? {} : { reason: plain(reason) }),
    id: idIn(fields),
    session_id: "",
    message_id: "",
    options: new Pending(undefined, undefined, fields.pond),
  })
}

/** Something in a message that the model has no part for: it stays in the record, and this marks its place. */
export function opaquePart(fields: Common & { readonly kind: Sealed<string> }): PartDraft<"opaque"> {
  const { provenance, kind, pond } = fields
  const options = new Pending(undefined, undefined, pond)
  return drafted({
    type: "opaque",
    provenance,
    kind: plain(kind),
    id: idIn(fields),
    session_id: "",
    message_id: "",
    options,
  })
}

function fileContent(data: FileSource): readonly [FileContent, Placed<string>] {
  if ("base64" in data) return [{ base64: data.base64.value }, data.base64]
  if ("url" in data) return [{ url: data.url.value }, data.url]
  return [{ text: data.text.value }, data.text]
}

/** No source gives an empty id: where this one is, the session writer makes one of the message's. */
function idIn({ id }: Common): string {
  return id === undefined ? "" : plain(id)
}

function drafted<B extends PartBody>(part: B & { readonly options: Pending }): PartDraft<B["type"]> {
  return part as unknown as PartDraft<B["type"]>
}
