/**
 * The makers of parts. Each takes sealed values and a provenance that cannot be left out (`adapter-provenance-required`).
 * A draft knows where its heavy value stood, so that the value is stored once: in the part, and no more in the record.
 */
import type { JsonValue } from "../model/json.ts"
import type { FileContent, Part, Provenance } from "../model/session.ts"
import type { Sealed } from "./extract.ts"

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

export interface PartDraft<out T extends PartBody["type"] = PartBody["type"]> extends Made {
  /** A whole part but for its ids and its options, which the session writer fills in. */
  readonly body: BodyByType[T]
  /** Which field holds the heavy value of the part, and that value as it was read. A part has one. */
  readonly lift: LiftedField | undefined
  readonly heavy: Sealed<JsonValue> | Sealed<string> | undefined
  /** The part's own id, where the source has one. */
  readonly id: string | undefined
  /** Facts of pond's own. */
  readonly pond: Record<string, JsonValue> | undefined
}

interface Common {
  readonly provenance: Provenance
  readonly id?: Sealed<string> | undefined
  /** What kind of injected text this is, and the like: words of pond's own, for later readers. */
  readonly pond?: Record<string, JsonValue> | undefined
}

/** Like the empty ids, it stands in a new body for what the session writer fills in: a part has one shape from then on. */
const NONE = Object.freeze({})

export function textPart(fields: Common & { readonly text: Sealed<string> }): PartDraft<"text"> {
  const { provenance, text } = fields
  return draft(
    { type: "text", provenance, text: text.value, id: "", session_id: "", message_id: "", options: NONE },
    fields,
    "text",
    text,
  )
}

export function reasoningPart(fields: Common & { readonly text: Sealed<string> }): PartDraft<"reasoning"> {
  const { provenance, text } = fields
  return draft(
    { type: "reasoning", provenance, text: text.value, id: "", session_id: "", message_id: "", options: NONE },
    fields,
    "text",
    text,
  )
}

export type FileSource =
  | { readonly base64: Sealed<string> }
  | { readonly url: Sealed<string> }
  | { readonly text: Sealed<string> }

interface FileFields extends Common {
  /** Where the source names none, the generic type says that it is not known (spec 4.8). */
  readonly mediaType: Sealed<string> | undefined
  readonly fileName?: Sealed<string> | undefined
  readonly data: FileSource
}

export function filePart(fields: FileFields): PartDraft<"file"> {
  const [content, value] = fileContent(fields.data)
  const body = {
    type: "file" as const,
    provenance: fields.provenance,
    media_type: fields.mediaType?.value ?? "application/octet-stream",
    ...(fields.fileName === undefined ? {} : { file_name: fields.fileName.value }),
    data: content,
    id: "",
    session_id: "",
    message_id: "",
    options: NONE,
  }
  return draft(body, fields, "data", value)
}

interface ToolCallFields extends Common {
  readonly callId: Sealed<string>
  readonly name: Sealed<string>
  readonly params: Sealed<JsonValue>
  /** Absent means that the client ran the tool, which is what a record without the mark says. */
  readonly providerExecuted?: Sealed<boolean> | undefined
}

export function toolCallPart(fields: ToolCallFields): PartDraft<"tool_call"> {
  const { provenance, callId, name, params, providerExecuted } = fields
  const body = {
    type: "tool_call" as const,
    provenance,
    call_id: callId.value,
    name: name.value,
    params: params.value,
    provider_executed: providerExecuted?.value ?? false,
    id: "",
    session_id: "",
    message_id: "",
    options: NONE,
  }
  return draft(body, fields, "params", params)
}

interface ToolResultFields extends Common {
  readonly callId: Sealed<string>
  readonly name?: Sealed<string> | undefined
  /** Absent means that it did not fail, which is what a record without the mark says (spec 4.8). */
  readonly isFailure?: Sealed<boolean> | undefined
  readonly result: Sealed<JsonValue>
}

export function toolResultPart(fields: ToolResultFields): PartDraft<"tool_result"> {
  const { provenance, callId, name, isFailure, result } = fields
  const type = "tool_result" as const
  const call_id = callId.value
  const is_failure = isFailure?.value ?? false
  const body =
    name === undefined
      ? {
          type,
          provenance,
          call_id,
          is_failure,
          result: result.value,
          id: "",
          session_id: "",
          message_id: "",
          options: NONE,
        }
      : {
          type,
          provenance,
          call_id,
          name: name.value,
          is_failure,
          result: result.value,
          id: "",
          session_id: "",
          message_id: "",
          options: NONE,
        }
  return draft(body, fields, "result", result)
}

/** @public For clients that ask before a tool runs; none of the first four records it. */
export function approvalRequestPart(
  fields: Common & { readonly approvalId: Sealed<string>; readonly toolCallId: Sealed<string> },
): PartDraft<"tool_approval_request"> {
  const { provenance, approvalId, toolCallId } = fields
  const body = {
    type: "tool_approval_request" as const,
    provenance,
    approval_id: approvalId.value,
    tool_call_id: toolCallId.value,
    id: "",
    session_id: "",
    message_id: "",
    options: NONE,
  }
  return draft(body, fields, undefined, undefined)
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
  const body = {
    type: "tool_approval_response" as const,
    provenance,
    approval_id: approvalId.value,
    approved: approved.value,
    ...(reason === undefined ? {} : { reason: reason.value }),
    id: "",
    session_id: "",
    message_id: "",
    options: NONE,
  }
  return draft(body, fields, undefined, undefined)
}

/** Something in a message that the model has no part for: it stays in the record, and this marks its place. */
export function opaquePart(fields: Common & { readonly kind: Sealed<string> }): PartDraft<"opaque"> {
  const { provenance, kind } = fields
  return draft(
    { type: "opaque", provenance, kind: kind.value, id: "", session_id: "", message_id: "", options: NONE },
    fields,
    undefined,
    undefined,
  )
}

function fileContent(data: FileSource): readonly [FileContent, Sealed<string>] {
  if ("base64" in data) return [{ base64: data.base64.value }, data.base64]
  if ("url" in data) return [{ url: data.url.value }, data.url]
  return [{ text: data.text.value }, data.text]
}

function draft<B extends PartBody>(
  body: B,
  common: Common,
  lift: LiftedField | undefined,
  heavy: Sealed<JsonValue> | Sealed<string> | undefined,
): PartDraft<B["type"]> {
  return { body, lift, heavy, id: common.id?.value, pond: common.pond } as unknown as PartDraft<B["type"]>
}
