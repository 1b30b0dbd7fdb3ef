/**
 * A message of opencode as canonical messages. A user's message is one. An assistant's message fuses what the model said
 * with what its tools answered, for one step or several: each step becomes an assistant message, a tool message with the
 * results, and, where a tool showed an image, a message in the user's slot that holds it, as opencode sends it on.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import {
  booleanAt,
  dataUrlIn,
  isAt,
  isNonZeroAt,
  jsonAt,
  nonEmptyStringAt,
  type Sealed,
  stringAt,
  valueAt,
} from "../extract.ts"
import {
  type FileSource,
  filePart,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { spansOf } from "./provenance.ts"
import { infoAt, type MessageView, objectOf, type PartView, type Path, partAt } from "./records.ts"

export interface MessageDrafts {
  readonly drafts: readonly [MessageDraft, ...MessageDraft[]]
  /** Types of parts that were kept whole and not understood. */
  readonly unknown: readonly string[]
}

type UserPart = PartDraft<"text"> | PartDraft<"file"> | PartDraft<"opaque">
type AssistantPart = UserPart | PartDraft<"reasoning"> | PartDraft<"tool_call"> | PartDraft<"tool_result">

/** Known, and without an equal in the model: they stay in the record, and an opaque part marks their place. */
const OPAQUE = new Set(["agent", "compaction", "patch", "retry", "snapshot", "source-url", "subtask"])

/** Where a request to the model began and ended. They stay in the record, and mark no place of their own. */
const BOUNDS = new Set(["step-start", "step-finish"])

/** Nothing where the role says nothing: the record is then no message that we know. */
export function draftsOf(view: MessageView): MessageDrafts | undefined {
  const role = infoAt(view, "role")
  const unknown: string[] = []
  if (role === "user") {
    const parts = view.parts.flatMap((part) => commonParts(view, part, unknown))
    return { drafts: [{ ...headOf(view), role, parts }], unknown }
  }
  if (role !== "assistant") return undefined
  const [first, ...rest] = stepsOf(view, unknown).flatMap((step) => step.drafts(view))
  return { drafts: [first ?? { ...headOf(view), ...modelFact(view), role, parts: [] }, ...rest], unknown }
}

function headOf(view: MessageView): Pick<MessageDraft, "id" | "timestamp"> {
  return { id: view.id, timestamp: view.time }
}

function modelFact(view: MessageView): { readonly pond?: { readonly model: string } } {
  const model = infoAt(view, "modelID") ?? infoAt(view, "metadata", "assistant", "modelID")
  return typeof model === "string" ? { pond: { model } } : {}
}

// --- Steps of an assistant ----------------------------------------------------------------------------------------------

interface Step {
  readonly said: AssistantPart[]
  readonly results: PartDraft<"tool_result">[]
  readonly media: PartDraft<"file">[]
  drafts(view: MessageView): MessageDraft[]
}

function newStep(): Step {
  const said: AssistantPart[] = []
  const results: PartDraft<"tool_result">[] = []
  const media: PartDraft<"file">[] = []
  return {
    said,
    results,
    media,
    drafts(view) {
      const head = headOf(view)
      const drafts: MessageDraft[] = []
      if (said.length > 0) drafts.push({ ...head, ...modelFact(view), role: "assistant", parts: said })
      if (results.length > 0) drafts.push({ ...head, role: "tool", parts: results })
      if (media.length > 0) drafts.push({ ...head, role: "user", parts: media, pond: { injected: "tool-media" } })
      return drafts
    },
  }
}

/** A step begins where opencode says so, and only where the one before it has results: else they are one request. */
function stepsOf(view: MessageView, unknown: string[]): Step[] {
  let step = newStep()
  const steps = [step]
  for (const part of view.parts) {
    const type = part.type?.value
    if (type === "step-start" && step.results.length > 0) {
      step = newStep()
      steps.push(step)
    }
    if (type === "tool") addTool(view, part, step)
    else if (type === "tool-invocation") addInvocation(view, part, step)
    else step.said.push(...assistantParts(view, part, unknown))
  }
  return steps
}

function assistantParts(view: MessageView, part: PartView, unknown: string[]): AssistantPart[] {
  const text = part.type?.value === "reasoning" ? stringAt(view.record, ...part.at, "text") : undefined
  if (text !== undefined) return [reasoningPart({ id: part.id, provenance: "conversational", text })]
  return commonParts(view, part, unknown)
}

/** What a user and an assistant can both say. */
function commonParts(view: MessageView, part: PartView, unknown: string[]): UserPart[] {
  const type = part.type?.value
  if (type === "text") {
    const spans = spansOf(view, part)
    if (spans.length > 0)
      return spans.map((span, index) => textPart({ ...span, id: index === 0 ? part.id : undefined }))
  }
  if (type === "file") {
    const file = fileAt(view.record, part.at, part.id)
    if (file !== undefined) return [file]
  }
  if (type !== undefined && BOUNDS.has(type)) return []
  if (type !== undefined && !OPAQUE.has(type)) unknown.push(type)
  const kind = part.type ?? nonEmptyStringAt(view.record, ...view.info, "role")
  return kind === undefined ? [] : [opaquePart({ id: part.id, provenance: "injected", kind })]
}

function fileAt(record: JsonValue, at: Path, id?: Sealed<string>, injected?: string): PartDraft<"file"> | undefined {
  const url = stringAt(record, ...at, "url")
  if (url === undefined) return undefined
  const inline = dataUrlIn(url)
  const data: FileSource = inline === undefined ? { url } : { base64: inline.base64 }
  return filePart({
    id,
    provenance: injected === undefined ? "conversational" : "injected",
    mediaType:
      inline?.mediaType ?? nonEmptyStringAt(record, ...at, "mime") ?? nonEmptyStringAt(record, ...at, "mediaType"),
    fileName: nonEmptyStringAt(record, ...at, "filename"),
    data,
    ...(injected === undefined ? {} : { pond: { injected } }),
  })
}

// --- Tools --------------------------------------------------------------------------------------------------------------

function addTool(view: MessageView, part: PartView, step: Step): void {
  const { record } = view
  const state: Path = [...part.at, "state"]
  const callId = nonEmptyStringAt(record, ...part.at, "callID") ?? part.id
  const name = nonEmptyStringAt(record, ...part.at, "tool")
  const params = jsonAt(record, ...state, "input") ?? jsonAt(record, ...state, "raw")
  if (callId === undefined || name === undefined || params === undefined) {
    if (part.type !== undefined) step.said.push(opaquePart({ id: part.id, provenance: "injected", kind: part.type }))
    return
  }
  const common = { id: part.id, provenance: "conversational" as const, callId }
  const providerExecuted = booleanAt(record, ...part.at, "metadata", "providerExecuted")
  step.said.push(toolCallPart({ ...common, name, params, providerExecuted }))
  const outcome = outcomeOf(view, part)
  if (outcome === undefined) return
  const result = toolResultPart({ ...common, ...outcome, name, provenance: "injected" })
  if (providerExecuted?.value === true) step.said.push({ ...result, id: undefined })
  else step.results.push(result)
  step.media.push(...attachmentsOf(record, [...state, "attachments"]))
}

interface Outcome {
  readonly result: Sealed<JsonValue>
  readonly isFailure: Sealed<boolean> | undefined
}

/** Nothing while the call is pending or running, or was left so by a crash. */
function outcomeOf(view: MessageView, part: PartView): Outcome | undefined {
  const { record } = view
  const state: Path = [...part.at, "state"]
  const status = partAt(view, part, "state", "status")
  if (status === "completed") {
    const result = jsonAt(record, ...state, "output")
    // A command that ended badly completed all the same. Its exit code says so.
    return result === undefined ? undefined : { result, isFailure: isNonZeroAt(record, ...state, "metadata", "exit") }
  }
  if (status !== "error") return undefined
  // A call that was interrupted shows the model what had come until then.
  const metadata = objectOf(valueAt(record, ...state, "metadata"))
  if (metadata["interrupted"] === true && typeof metadata["output"] === "string") {
    const result = jsonAt(record, ...state, "metadata", "output")
    return result === undefined ? undefined : { result, isFailure: undefined }
  }
  const result = jsonAt(record, ...state, "error")
  return result === undefined ? undefined : { result, isFailure: isAt(record, "error", ...state, "status") }
}

function attachmentsOf(record: JsonValue, at: Path): PartDraft<"file">[] {
  const attachments = valueAt(record, ...at)
  if (!Array.isArray(attachments)) return []
  return attachments.flatMap((attachment, index) => {
    if (!isJsonObject(attachment) || attachment["type"] !== "file") return []
    const id = nonEmptyStringAt(record, ...at, index, "id")
    return fileAt(record, [...at, index], id, "tool-media") ?? []
  })
}

/** The form of the first months: `{toolInvocation: {state, toolCallId, toolName, args, result?}}`. */
function addInvocation(view: MessageView, part: PartView, step: Step): void {
  const at: Path = [...part.at, "toolInvocation"]
  const callId = nonEmptyStringAt(view.record, ...at, "toolCallId")
  const name = nonEmptyStringAt(view.record, ...at, "toolName")
  const params = jsonAt(view.record, ...at, "args")
  if (callId === undefined || name === undefined || params === undefined) {
    if (part.type !== undefined) step.said.push(opaquePart({ id: part.id, provenance: "injected", kind: part.type }))
    return
  }
  const common = { id: part.id, provenance: "conversational" as const, callId }
  step.said.push(toolCallPart({ ...common, name, params }))
  const result = jsonAt(view.record, ...at, "result")
  const isFailure = booleanAt(view.record, ...view.info, "metadata", "tool", callId.value, "error")
  if (result !== undefined)
    step.results.push(toolResultPart({ ...common, name, isFailure, result, provenance: "injected" }))
}
