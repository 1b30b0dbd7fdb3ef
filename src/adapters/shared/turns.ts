/**
 * A live conversation as turns, in the shape that every client's own log can be written from: consecutive messages of
 * the model are one turn, each call carries its result and has its own id, tools speak the target's vocabulary,
 * reasoning is as asked. What the target's harness makes anew is left out, and each loss is named.
 * Knows the neutral model and the vocabularies, no client's format.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Loss } from "../../model/report.ts"
import type {
  Entry,
  FilePart,
  Message,
  Part,
  ProviderOptions,
  ToolCallPart,
  ToolResultPart,
} from "../../model/session.ts"
import type { Conversation, ForeignTarget } from "../adapter.ts"
import { type LossKind, loss } from "./losses.ts"
import { type ResultContent, resultContent, translateCall } from "./translate.ts"
import type { Vocabulary } from "./vocabulary.ts"

export interface TextBlock {
  readonly type: "text"
  readonly text: string
  /** What kind of text the source's harness put here. Absent where a person or the model wrote it. */
  readonly injected?: string
}

export interface FileBlock {
  readonly type: "file"
  readonly file: FilePart
  readonly injected?: string
}

export interface InjectedRun {
  /** What kind of text the harness put here. Absent where a person or the model wrote it. */
  readonly injected: string | undefined
  readonly blocks: readonly (TextBlock | FileBlock)[]
}

/** The blocks of a turn as runs of one origin: clients keep what a person said apart from what their harness put beside it. */
export function runsByInjected(blocks: readonly (TextBlock | FileBlock)[]): InjectedRun[] {
  const runs: { injected: string | undefined; blocks: (TextBlock | FileBlock)[] }[] = []
  for (const block of blocks) {
    const last = runs.at(-1)
    if (last !== undefined && last.injected === block.injected) last.blocks.push(block)
    else runs.push({ injected: block.injected, blocks: [block] })
  }
  return runs
}

export interface ReasoningBlock {
  readonly type: "reasoning"
  readonly text: string
}

export interface CallBlock {
  readonly type: "call"
  /** Unique in the session. */
  readonly id: string
  readonly name: string
  readonly params: JsonValue
  /** Absent where the session broke off before it came. */
  readonly result?: CallResult
}

export interface CallResult {
  readonly content: readonly ResultContent[]
  readonly isFailure: boolean
  readonly timestamp: string
}

interface TurnFields {
  /** The first message of the turn. */
  readonly messageId: string
  readonly timestamp: string
}

export interface UserTurn extends TurnFields {
  readonly role: "user"
  readonly blocks: readonly (TextBlock | FileBlock)[]
}

export interface AssistantTurn extends TurnFields {
  readonly role: "assistant"
  /** As the source wrote it, where it did. */
  readonly model?: string
  readonly blocks: readonly (TextBlock | FileBlock | ReasoningBlock | CallBlock)[]
}

export type Turn = UserTurn | AssistantTurn

export interface Turns {
  readonly turns: readonly Turn[]
  readonly losses: readonly Loss[]
}

/** What a harness says of its surroundings: the target's harness says it anew, and differently. */
const SURROUNDINGS = new Set([
  ...["system-reminder", "agents-md", "environment-context", "permissions", "recommended-plugins"],
  ...["internal-context", "local-command", "image-label", "warning", "ide"],
])

/** `target` is the vocabulary of the adapter that writes the turns. */
export function turnsOf(
  { entries, origin }: Conversation,
  target: Vocabulary | undefined,
  reasoning: ForeignTarget["reasoning"],
  { keepsSurroundings = false }: { readonly keepsSurroundings?: boolean } = {},
): Turns {
  const draft: Draft = { turns: [], losses: [], open: new Map(), ids: new Set(), isAnswered: false }
  const way = { from: origin?.vocabulary, to: target, reasoning, keepsSurroundings }
  for (const entry of entries) addEntry(draft, way, entry)
  return { turns: draft.turns.filter(({ blocks }) => blocks.length > 0) as Turn[], losses: draft.losses }
}

// --- Building ---------------------------------------------------------------------------------------------------------

interface Way {
  readonly from: Vocabulary | undefined
  readonly to: Vocabulary | undefined
  readonly reasoning: ForeignTarget["reasoning"]
  /** For what pond wrote itself: a text there that looks like a harness's own words is what a person said. */
  readonly keepsSurroundings: boolean
}

type Open<T extends Turn> = Omit<T, "blocks"> & { readonly blocks: T["blocks"][number][] }
type OpenCall = CallBlock & { result?: CallResult }

interface Draft {
  readonly turns: (Open<UserTurn> | Open<AssistantTurn>)[]
  readonly losses: Loss[]
  /** Calls that wait for their result, by the id that the source gave them. */
  readonly open: Map<string, OpenCall>
  readonly ids: Set<string>
  /** Whether a result came after the last message of the model: its next message is a new turn then. */
  isAnswered: boolean
}

type Lose = (kind: LossKind, found?: string) => void

function addEntry(draft: Draft, way: Way, { message, parts }: Entry): void {
  const lose: Lose = (kind, found) => draft.losses.push(loss(kind, message.id, found))
  if (message.role === "system") {
    if (message.content !== "") lose("system_message")
    return
  }
  if (message.role === "user") {
    const blocks = parts.flatMap((part) => plainBlock(way, part, lose) ?? [])
    if (blocks.length === 0) return
    draft.turns.push({ role: "user", messageId: message.id, timestamp: message.timestamp, blocks })
    draft.isAnswered = false
    return
  }
  for (const part of parts) {
    if (part.type === "tool_result") answer(draft, message, part, lose)
    else {
      const block = modelBlock(draft, way, part, lose)
      if (block !== undefined) modelTurn(draft, message).blocks.push(block)
    }
  }
}

function modelTurn(draft: Draft, { id, timestamp, options }: Message): Open<AssistantTurn> {
  const last = draft.turns.at(-1)
  if (last?.role === "assistant" && !draft.isAnswered) return last
  const model = factOf(options, "model")
  const turn = { role: "assistant" as const, messageId: id, timestamp, blocks: [], ...(model && { model }) }
  draft.turns.push(turn)
  draft.isAnswered = false
  return turn
}

function answer(draft: Draft, { timestamp }: Message, part: ToolResultPart, lose: Lose): void {
  const call = draft.open.get(part.call_id)
  if (call === undefined) {
    lose("stray_result", part.call_id)
    return
  }
  draft.open.delete(part.call_id)
  draft.isAnswered = true
  call.result = { content: resultContent(part.result as JsonValue), isFailure: part.is_failure, timestamp }
}

function modelBlock(draft: Draft, way: Way, part: Part, lose: Lose): AssistantTurn["blocks"][number] | undefined {
  if (part.type === "tool_call") return callBlock(draft, way, part, lose)
  if (part.type !== "reasoning") return plainBlock(way, part, lose)
  if (part.text.trim() === "") lose("sealed_reasoning")
  else if (way.reasoning === "drop") lose("reasoning")
  else return { type: way.reasoning === "text" ? "text" : "reasoning", text: part.text }
  return undefined
}

function callBlock(draft: Draft, { from, to }: Way, part: ToolCallPart, lose: Lose): OpenCall {
  const params = part.params as JsonValue
  const translated = translateCall(from, to, { name: part.name, params })
  if (translated !== undefined && translated.lost.length > 0)
    lose("tool_params", `${part.name}: ${translated.lost.join(", ")}`)
  // A client that reads a call without an id, or without a name, leaves it out.
  let id = part.call_id || "call"
  for (let count = 2; draft.ids.has(id); count++) id = `${part.call_id}_${count}`
  draft.ids.add(id)
  const name = (translated?.name ?? part.name) || "tool"
  const call = { type: "call" as const, id, name, params: translated?.params ?? params }
  draft.open.set(part.call_id, call)
  return call
}

function plainBlock({ keepsSurroundings }: Way, part: Part, lose: Lose): TextBlock | FileBlock | undefined {
  const injected = part.provenance === "injected" ? (factOf(part.options, "injected") ?? "unknown") : undefined
  const mark = injected === undefined ? {} : { injected }
  if (injected !== undefined && !keepsSurroundings && SURROUNDINGS.has(injected)) lose("injected_context", injected)
  else if (part.type === "text") return part.text === "" ? undefined : { type: "text", text: part.text, ...mark }
  else if (part.type === "file") return { type: "file", file: part, ...mark }
  else if (part.type === "opaque") lose("opaque", part.kind)
  else lose("approval")
  return undefined
}

/** A fact that pond added about a message or a part. */
function factOf(options: ProviderOptions, name: string): string | undefined {
  const pond = options["pond"]
  const fact = isJsonObject(pond) ? pond[name] : undefined
  return typeof fact === "string" ? fact : undefined
}
