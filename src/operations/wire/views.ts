/** What a reader is shown of sessions, messages and parts: the shapes of the wire, made from canonical values. */

import { type Static, Type } from "typebox"
import { isPromptsOnly } from "../../adapters/prompts-only.ts"
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Part, Session } from "../../model/session.ts"
import { given } from "../fields.ts"
import { closedObject } from "../operation.ts"

/** A record of prompts, whose session is gone, and no session. */
export const PROMPTS_ONLY = Type.Optional(
  Type.Boolean({ description: "Only the prompts of a session that is gone are known, and no answer." }),
)

export const SessionView = closedObject({
  id: Type.String(),
  source_agent: Type.String(),
  project: Type.String(),
  created_at: Type.String(),
  title: Type.Optional(Type.String()),
  parent_session_id: Type.Optional(Type.String()),
  parent_message_id: Type.Optional(Type.String()),
  prompts_only: PROMPTS_ONLY,
})
export type SessionView = Static<typeof SessionView>

/** One line about a part. */
export const PartSummary = closedObject({
  kind: Type.String(),
  label: Type.Optional(Type.String()),
  /** Of a tool call: the first text that it was given, such as a command or a path, on one line. */
  note: Type.Optional(Type.String()),
  failed: Type.Optional(Type.Boolean()),
  call_id: Type.Optional(Type.String()),
})
export type PartSummary = Static<typeof PartSummary>

export const PartView = Type.Object({
  id: Type.String(),
  type: Type.String(),
  provenance: Type.String(),
})
/** A whole part, but for the bag of options, which is the client's own and no reader's. */
export type PartView = Static<typeof PartView> & Readonly<Record<string, unknown>>

export const MessageView = closedObject({
  id: Type.String(),
  session_id: Type.String(),
  ordinal: Type.Integer(),
  role: Type.String(),
  timestamp: Type.String(),
  /** What was said: conversation alone, or with injected text where everything was asked for. */
  text: Type.Optional(Type.String()),
  /** Of a system message. */
  content: Type.Optional(Type.String()),
  parts: Type.Optional(Type.Array(PartView)),
  parts_summary: Type.Optional(Type.Array(PartSummary)),
})
export type MessageView = Static<typeof MessageView>

export type Depth = "conversational" | "complete" | "verbatim"

export function sessionView(session: Session): SessionView {
  const { options: _, ...fields } = session
  return { ...fields, ...promptsOnly(session) }
}

export function promptsOnly({ source_agent: agent }: Pick<Session, "source_agent">): { prompts_only?: true } {
  return isPromptsOnly(agent) ? { prompts_only: true } : {}
}

const TITLE_UNITS_MAX = 300

/** One line, and no more of a long first message than anybody reads. */
export function titleText(title: string | undefined): string | undefined {
  const line = title
    ?.slice(0, TITLE_UNITS_MAX * 2)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, TITLE_UNITS_MAX)
  return line === undefined || line === "" ? undefined : line.toWellFormed()
}

export function messageView({ message, parts }: Entry, depth: Depth): MessageView {
  const { id, session_id, ordinal, role, timestamp } = message
  const texts = parts.filter(
    (part) => part.type === "text" && (depth !== "conversational" || part.provenance === "conversational"),
  )
  const text = texts.map((part) => ("text" in part ? part.text : "")).join("\n")
  const others = parts.filter((part) => part.type !== "text")
  const isVerbatim = depth === "verbatim"
  return {
    id,
    session_id,
    ordinal,
    role,
    timestamp,
    ...(isVerbatim || text === "" ? {} : { text }),
    ...(message.role === "system" && message.content !== "" ? { content: message.content } : {}),
    ...(isVerbatim ? { parts: parts.map(partView) } : {}),
    ...(isVerbatim || others.length === 0 ? {} : { parts_summary: others.map(partSummary) }),
  }
}

export function partView(part: Part): PartView {
  const { options: _, session_id: __, message_id: ___, ...body } = part
  return body
}

function partSummary(part: Part): PartSummary {
  const kind = part.type
  switch (part.type) {
    case "tool_call":
      return { kind, label: part.name, ...given("note", noteOf(part.params as JsonValue)), call_id: part.call_id }
    case "tool_result":
      return {
        kind,
        label: [part.name, part.is_failure ? "failed" : "ok"].filter(Boolean).join(" "),
        ...(part.is_failure ? { failed: true } : {}),
        call_id: part.call_id,
      }
    case "file":
      return { kind, label: part.file_name ?? part.media_type }
    case "opaque":
      return { kind, label: part.kind }
    case "tool_approval_request":
    case "tool_approval_response":
      return { kind, label: part.approval_id }
    default:
      return { kind }
  }
}

const NOTE_UNITS_MAX = 200

function noteOf(params: JsonValue): string | undefined {
  const values = isJsonObject(params) ? Object.values(params) : [params]
  const text = values.find((value): value is string => typeof value === "string" && value.trim() !== "")
  return titleText(text?.slice(0, NOTE_UNITS_MAX))
}

/** About how many characters a view takes when it is shown. */
export function viewSize(view: MessageView): number {
  const parts = view.parts === undefined ? 0 : JSON.stringify(view.parts as unknown as JsonValue).length
  return 120 + (view.text?.length ?? 0) + (view.content?.length ?? 0) + parts + (view.parts_summary?.length ?? 0) * 40
}
