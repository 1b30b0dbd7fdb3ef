/**
 * A message of opencode as canonical messages. A user's message is one. An assistant's message fuses what the model said
 * with what its tools answered, for one step or several: each step becomes an assistant message, a tool message with the
 * results, and, where a tool showed an image, a message in the user's slot that holds it, as opencode sends it on.
 */
import type { JsonValue } from "../../model/json.ts"
import {
  asJson,
  booleanAt,
  isAt,
  isNonZeroAt,
  jsonUnder,
  nonEmptyStringUnder,
  type Placed,
  plain,
  type Sealed,
  stringUnder,
  valueAt,
} from "../extract.ts"
import { opaquePart, type PartDraft, reasoningPart, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import { isFilled, type MessageDraft } from "../session-writer.ts"
import { fileOfUrl } from "../shared/common-parts.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"
import { type Span, spansOf } from "./provenance.ts"
import { infoAt, type MessageView, type PartView, partKind } from "./records.ts"

export interface MessageDrafts {
  readonly drafts: readonly [MessageDraft, ...MessageDraft[]]
  /** Types of parts that were kept whole and not understood. */
  readonly unknown: readonly string[]
}

type UserPart = PartDraft<"text"> | PartDraft<"file"> | PartDraft<"opaque">
type AssistantPart = UserPart | PartDraft<"reasoning"> | PartDraft<"tool_call"> | PartDraft<"tool_result">

/** Known, and without an equal in the model: they stay in the record, and an opaque part marks their place. */
const OPAQUE = new Set(["agent", "compaction", "patch", "retry", "snapshot", "source-url", "subtask"])

/** Where a request to the model began and ended. They stay in the record, and mark no separate place. */
const BOUNDS = new Set(["step-start", "step-finish"])

/** Nothing where the role says nothing: the record is then no message that we know. */
export function draftsOf(view: MessageView): MessageDrafts | undefined {
  const role = infoAt(view, "role")
  const unknown: string[] = []
  if (role === "user") {
    const parts: UserPart[] = []
    for (const part of view.parts) addCommon(view, part, parts, unknown)
    return { drafts: [{ id: view.id, timestamp: view.time, role: "user", parts }], unknown }
  }
  if (role !== "assistant") return undefined
  const drafts: MessageDraft[] = []
  for (const step of stepsOf(view, unknown)) addDrafts(view, step, drafts)
  if (isFilled(drafts)) return { drafts, unknown }
  return {
    drafts: [{ id: view.id, timestamp: view.time, pond: modelFact(view), role: "assistant", parts: [] }],
    unknown,
  }
}

function modelFact(view: MessageView): { readonly model: string } | undefined {
  const model = infoAt(view, "modelID") ?? infoAt(view, "metadata", "assistant", "modelID")
  return typeof model === "string" ? { model } : undefined
}

// --- Steps of an assistant ----------------------------------------------------------------------------------------------

interface Step {
  readonly said: AssistantPart[]
  readonly results: PartDraft<"tool_result">[]
  readonly media: PartDraft<"file">[]
}

function newStep(): Step {
  return { said: [], results: [], media: [] }
}

function addDrafts(view: MessageView, { said, results, media }: Step, drafts: MessageDraft[]): void {
  const { id, time: timestamp } = view
  if (said.length > 0) drafts.push({ id, timestamp, pond: modelFact(view), role: "assistant", parts: said })
  if (results.length > 0) drafts.push({ id, timestamp, pond: undefined, role: "tool", parts: results })
  if (media.length > 0) drafts.push({ id, timestamp, pond: { injected: "tool-media" }, role: "user", parts: media })
}

/** A step begins where opencode says so, and only where the one before it has results: else they are one request. */
function stepsOf(view: MessageView, unknown: string[]): Step[] {
  let step = newStep()
  const steps = [step]
  for (const part of view.parts) {
    const type = part.type
    if (type === "step-start" && step.results.length > 0) {
      step = newStep()
      steps.push(step)
    }
    if (type === "tool") addTool(part, step)
    else if (type === "tool-invocation") addInvocation(view, part, step)
    else addSaid(view, part, step.said, unknown)
  }
  return steps
}

function addSaid(view: MessageView, part: PartView, said: AssistantPart[], unknown: string[]): void {
  const text = part.type === "reasoning" ? stringUnder(part.spot, "text") : undefined
  if (text === undefined) addCommon(view, part, said, unknown)
  else said.push(reasoningPart({ id: part.id, provenance: "conversational", text }))
}

/** What a user and an assistant can both say. */
function addCommon(view: MessageView, part: PartView, said: Pick<UserPart[], "push">, unknown: string[]): void {
  const { type, id } = part
  if (type !== undefined && BOUNDS.has(type)) return
  if (type === "text") {
    const spans = spansOf(view, part)
    for (let index = 0; index < spans.length; index++) {
      const { text, provenance, pond } = spans[index] as Span
      said.push(textPart({ text, provenance, pond, id: index === 0 ? id : undefined }))
    }
    if (spans.length > 0) return
  }
  const file = type === "file" ? fileAt(part.spot, id) : undefined
  if (file !== undefined) {
    said.push(file)
    return
  }
  if (type === undefined || !OPAQUE.has(type)) unknown.push(type ?? "none")
  const kind = partKind(part) ?? nonEmptyStringUnder(view.info, "role")
  if (kind !== undefined) said.push(opaquePart({ id, provenance: "injected", kind }))
}

function fileAt(spot: Spot, id?: Sealed<string>, injected?: string): PartDraft<"file"> | undefined {
  const url = stringUnder(spot, "url")
  if (url === undefined) return undefined
  return fileOfUrl(url, {
    id,
    mediaType: nonEmptyStringUnder(spot, "mime") ?? nonEmptyStringUnder(spot, "mediaType"),
    fileName: nonEmptyStringUnder(spot, "filename"),
    ...(injected === undefined ? {} : { provenance: "injected", pond: { injected } }),
  })
}

// --- Tools --------------------------------------------------------------------------------------------------------------

function addTool(part: PartView, step: Step): void {
  const { spot, id } = part
  const state = inside(spot, "state")
  const callId = nonEmptyStringUnder(spot, "callID") ?? id
  const name = nonEmptyStringUnder(spot, "tool")
  const params = state && (jsonUnder(state, "input") ?? jsonUnder(state, "raw"))
  if (state === undefined || callId === undefined || name === undefined || params === undefined) {
    const kind = partKind(part)
    if (kind !== undefined) step.said.push(opaquePart({ id, provenance: "injected", kind }))
    return
  }
  const providerExecuted = booleanAt(spot.value, "metadata", "providerExecuted")
  step.said.push(toolCallPart({ id, provenance: "conversational", callId, name, params, providerExecuted }))
  const outcome = outcomeOf(state)
  if (outcome === undefined) return
  const { result, isFailure } = outcome
  const isProviders = providerExecuted !== undefined && plain(providerExecuted)
  const own = isProviders ? undefined : id
  const answer = toolResultPart({ id: own, provenance: "injected", callId, name, isFailure, result })
  if (isProviders) step.said.push(answer)
  else step.results.push(answer)
  for (const attachment of itemsOf(inside(state, "attachments"))) {
    const file = wordUnder(attachment.value, "type") === "file" ? attached(attachment) : undefined
    if (file !== undefined) step.media.push(file)
  }
}

function attached(attachment: Spot): PartDraft<"file"> | undefined {
  return fileAt(attachment, nonEmptyStringUnder(attachment, "id"), "tool-media")
}

interface Outcome {
  readonly result: Placed<JsonValue>
  readonly isFailure: Sealed<boolean> | undefined
}

/** Nothing while the call is pending or running, or was left so by a crash. */
function outcomeOf(state: Spot): Outcome | undefined {
  const status = wordUnder(state.value, "status")
  if (status === "completed") {
    const result = jsonUnder(state, "output")
    // A command that ended badly completed all the same. Its exit code says so.
    return result === undefined ? undefined : { result, isFailure: isNonZeroAt(state.value, "metadata", "exit") }
  }
  if (status !== "error") return undefined
  // A call that was interrupted shows the model what had come until then.
  const metadata = inside(state, "metadata")
  const output =
    valueAt(state.value, "metadata", "interrupted") === true ? metadata && stringUnder(metadata, "output") : undefined
  if (output !== undefined) return { result: asJson(output), isFailure: undefined }
  const result = jsonUnder(state, "error")
  return result === undefined ? undefined : { result, isFailure: isAt(state.value, "error", "status") }
}

/** The form of the first months: `{toolInvocation: {state, toolCallId, toolName, args, result?}}`. */
function addInvocation(view: MessageView, part: PartView, step: Step): void {
  const { spot, id } = part
  const invocation = inside(spot, "toolInvocation")
  const callId = invocation && nonEmptyStringUnder(invocation, "toolCallId")
  const name = invocation && nonEmptyStringUnder(invocation, "toolName")
  const params = invocation && jsonUnder(invocation, "args")
  if (invocation === undefined || callId === undefined || name === undefined || params === undefined) {
    const kind = partKind(part)
    if (kind !== undefined) step.said.push(opaquePart({ id, provenance: "injected", kind }))
    return
  }
  step.said.push(toolCallPart({ id, provenance: "conversational", callId, name, params }))
  const result = jsonUnder(invocation, "result")
  const isFailure = booleanAt(view.info.value, "metadata", "tool", plain(callId), "error")
  if (result !== undefined)
    step.results.push(toolResultPart({ id, provenance: "injected", callId, name, isFailure, result }))
}
