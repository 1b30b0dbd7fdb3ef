/**
 * The canonical model: the form that every client's sessions are read into, kept in and written from.
 * Three nested things, each a schema and a type under one name: a Session holds Messages, a Message holds Parts.
 * Ids are opaque strings (`adapter-integrity-opaque-ids`). Knows no client, no store and no transport.
 */
import { type Static, Type } from "typebox"

/** Any JSON value, kept by value. See `json.ts` for what that means. */
const Json = Type.Unknown()

/**
 * The bag of everything that the canonical fields do not say: `source` for facts of the client's own record,
 * `pond` for facts that pond adds, and the name of a provider for what it said. It is what makes the model lossless.
 */
export const ProviderOptions = Type.Record(Type.String(), Json)
export type ProviderOptions = Static<typeof ProviderOptions>

/** RFC 3339, UTC, as `timestamp.ts` spells it. */
const Timestamp = Type.String({ format: "date-time" })

export const Session = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    /** Set where this session was spawned or forked from another. The parent need not be stored. */
    parent_session_id: Type.Optional(Type.String({ minLength: 1 })),
    /** The cut-point in the parent. Means nothing without `parent_session_id` (`model-parent-pointer-coherence`). */
    parent_message_id: Type.Optional(Type.String({ minLength: 1 })),
    source_agent: Type.String({ minLength: 1 }),
    /** As the source recorded it: not the time at which pond stored it. */
    created_at: Timestamp,
    /** The shared scope that the session belongs to, mostly a directory (`model-project-non-empty`). */
    project: Type.String({ minLength: 1 }),
    /** Only where the source recorded one. */
    title: Type.Optional(Type.String()),
    options: ProviderOptions,
  },
  { additionalProperties: false },
)
export type Session = Static<typeof Session>

/**
 * Whether a part is conversation, or scaffolding that the harness put into the transcript (`model-part-provenance`).
 * The role says whose slot it stands in, which is not the same: injected text stands in the user's slot.
 */
export const Provenance = Type.Union([Type.Literal("conversational"), Type.Literal("injected")])
export type Provenance = Static<typeof Provenance>

const partFields = {
  id: Type.String({ minLength: 1 }),
  session_id: Type.String({ minLength: 1 }),
  message_id: Type.String({ minLength: 1 }),
  provenance: Provenance,
  options: ProviderOptions,
}
const closed = { additionalProperties: false }

export const TextPart = Type.Object({ ...partFields, type: Type.Literal("text"), text: Type.String() }, closed)
export type TextPart = Static<typeof TextPart>

const ReasoningPart = Type.Object({ ...partFields, type: Type.Literal("reasoning"), text: Type.String() }, closed)
export type ReasoningPart = Static<typeof ReasoningPart>

/** Bytes travel as base64. A file that lies elsewhere is a URL; one that was text stays text. */
export const FileContent = Type.Union([
  Type.Object({ base64: Type.String() }, closed),
  Type.Object({ url: Type.String() }, closed),
  Type.Object({ text: Type.String() }, closed),
])
export type FileContent = Static<typeof FileContent>

export const FilePart = Type.Object(
  {
    ...partFields,
    type: Type.Literal("file"),
    media_type: Type.String(),
    file_name: Type.Optional(Type.String()),
    data: FileContent,
  },
  closed,
)
export type FilePart = Static<typeof FilePart>

export const ToolCallPart = Type.Object(
  {
    ...partFields,
    type: Type.Literal("tool_call"),
    call_id: Type.String(),
    name: Type.String(),
    params: Json,
    provider_executed: Type.Boolean(),
  },
  closed,
)
export type ToolCallPart = Static<typeof ToolCallPart>

export const ToolResultPart = Type.Object(
  {
    ...partFields,
    type: Type.Literal("tool_result"),
    call_id: Type.String(),
    /** Most clients name the tool in the call alone, so a result has a name only where its record has (`model-schema-honesty`). */
    name: Type.Optional(Type.String()),
    is_failure: Type.Boolean(),
    result: Json,
  },
  closed,
)
export type ToolResultPart = Static<typeof ToolResultPart>

const ToolApprovalRequestPart = Type.Object(
  {
    ...partFields,
    type: Type.Literal("tool_approval_request"),
    approval_id: Type.String(),
    tool_call_id: Type.String(),
  },
  closed,
)
export type ToolApprovalRequestPart = Static<typeof ToolApprovalRequestPart>

const ToolApprovalResponsePart = Type.Object(
  {
    ...partFields,
    type: Type.Literal("tool_approval_response"),
    approval_id: Type.String(),
    approved: Type.Boolean(),
    reason: Type.Optional(Type.String()),
  },
  closed,
)
export type ToolApprovalResponsePart = Static<typeof ToolApprovalResponsePart>

/** Something that the source holds in a message and that is none of the above, kept whole: `options.source` has it. */
const OpaquePart = Type.Object({ ...partFields, type: Type.Literal("opaque"), kind: Type.String() }, closed)
export type OpaquePart = Static<typeof OpaquePart>

export const Part = Type.Union([
  TextPart,
  ReasoningPart,
  FilePart,
  ToolCallPart,
  ToolResultPart,
  ToolApprovalRequestPart,
  ToolApprovalResponsePart,
  OpaquePart,
])
export type Part = Static<typeof Part>
export type PartType = Part["type"]

const messageFields = {
  id: Type.String({ minLength: 1 }),
  session_id: Type.String({ minLength: 1 }),
  /** The position in the source's own log. This is the order of a session: clocks run backwards in real logs. */
  ordinal: Type.Integer({ minimum: 0 }),
  timestamp: Timestamp,
  options: ProviderOptions,
}

/** Also the carrier of every record that is no message: its content is then empty, and `options.source` has it whole. */
export const SystemMessage = Type.Object(
  { ...messageFields, role: Type.Literal("system"), content: Type.String() },
  closed,
)
export type SystemMessage = Static<typeof SystemMessage>
export const UserMessage = Type.Object({ ...messageFields, role: Type.Literal("user") }, closed)
export type UserMessage = Static<typeof UserMessage>
export const AssistantMessage = Type.Object({ ...messageFields, role: Type.Literal("assistant") }, closed)
export type AssistantMessage = Static<typeof AssistantMessage>
export const ToolMessage = Type.Object({ ...messageFields, role: Type.Literal("tool") }, closed)
export type ToolMessage = Static<typeof ToolMessage>

export const Message = Type.Union([SystemMessage, UserMessage, AssistantMessage, ToolMessage])
export type Message = Static<typeof Message>
export type Role = Message["role"]

/** Which parts may stand in a message of which role. The types below say it to the compiler, `partsAllowed` to data. */
export const ROLE_PARTS = {
  system: [],
  user: ["text", "file", "opaque"],
  assistant: ["text", "file", "reasoning", "tool_call", "tool_result", "tool_approval_request", "opaque"],
  tool: ["tool_result", "tool_approval_response", "opaque"],
} as const satisfies Record<Role, readonly PartType[]>

type PartsOf<R extends Role> = Extract<Part, { type: (typeof ROLE_PARTS)[R][number] }>

/** A message with its parts in order. */
export type Entry =
  | { readonly message: SystemMessage; readonly parts: readonly [] }
  | { readonly message: UserMessage; readonly parts: readonly PartsOf<"user">[] }
  | { readonly message: AssistantMessage; readonly parts: readonly PartsOf<"assistant">[] }
  | { readonly message: ToolMessage; readonly parts: readonly PartsOf<"tool">[] }

/** A whole session: its messages in the order of their ordinals. */
export interface SessionLog {
  readonly session: Session
  readonly entries: readonly Entry[]
}

/** A session with the sessions that name it as their parent, as deep as lineage goes. */
export interface SessionTree extends SessionLog {
  readonly children: readonly SessionTree[]
}

/** One canonical object on its way in. For each session: itself, then each message followed by its parts. */
export const IngestEvent = Type.Union([
  Type.Object({ kind: Type.Literal("session"), ...Session.properties }, closed),
  ...[SystemMessage, UserMessage, AssistantMessage, ToolMessage].map((schema) =>
    Type.Object({ kind: Type.Literal("message"), ...schema.properties }, closed),
  ),
  ...[
    TextPart,
    ReasoningPart,
    FilePart,
    ToolCallPart,
    ToolResultPart,
    ToolApprovalRequestPart,
    ToolApprovalResponsePart,
    OpaquePart,
  ].map((schema) => Type.Object({ kind: Type.Literal("part"), ...schema.properties }, closed)),
])

export type SessionEvent =
  | ({ readonly kind: "session" } & Session)
  | ({ readonly kind: "message" } & Message)
  | ({ readonly kind: "part" } & Part)

export function partsAllowed(role: Role, parts: readonly Part[]): boolean {
  const allowed: readonly PartType[] = ROLE_PARTS[role]
  return parts.every((part) => allowed.includes(part.type))
}

/** What is wrong with a session beyond its shape, in words, or nothing. */
export function sessionFault(session: Session): string | undefined {
  if (session.parent_message_id !== undefined && session.parent_session_id === undefined) {
    return "parent_message_id is present without parent_session_id (model-parent-pointer-coherence)"
  }
  if (session.project.trim() === "") return "project is empty (model-project-non-empty)"
  return undefined
}
