/**
 * The rows of `session_message`, where newer versions of opencode keep a session as what came out of its events: one row
 * for each thing that was said, with everything that an assistant did in one step inside it.
 */
import {
  booleanAt,
  isAt,
  isNonZeroAt,
  jsonAt,
  nonEmptyStringAt,
  plain,
  stringAt,
  timestampAt,
  valueAt,
} from "../extract.ts"
import {
  injectedText,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { fileOfUrl } from "../shared/common-parts.ts"
import { fieldsOf, type SourceObject, type SourceValue } from "../source-value.ts"
import type { MessageDrafts } from "./messages.ts"
import type { Path } from "./records.ts"

/** Nothing for a row that is no message: a switch of agent or model, and what we do not know. */
export function rowDraftsOf(record: SourceValue): MessageDrafts | undefined {
  const head = { id: nonEmptyStringAt(record, "id"), timestamp: timestampAt(record, "time_created") }
  const text = stringAt(record, "data", "text")
  switch (valueAt(record, "type")) {
    case "user": {
      const said = text === undefined ? [] : [textPart({ provenance: "conversational", text })]
      return known({ ...head, role: "user", parts: [...said, ...filesAt(record, ["data", "files"])] })
    }
    case "synthetic":
      return text === undefined ? undefined : known({ ...head, role: "user", parts: [injectedText(text, "synthetic")] })
    case "system":
      return text === undefined ? undefined : known({ ...head, role: "system", content: text })
    case "shell":
      return known({ ...head, role: "user", parts: shellParts(record) })
    case "compaction":
      return known({ ...head, role: "user", parts: compactionParts(record) })
    case "assistant":
      return assistantDrafts(record, head)
    default:
      return undefined
  }
}

function known(...drafts: [MessageDraft, ...MessageDraft[]]): MessageDrafts {
  return { drafts, unknown: [] }
}

/** A shell command that the user ran: the command counts as said by the user, its output does not. */
function shellParts(record: SourceValue): PartDraft<"text">[] {
  const command = stringAt(record, "data", "command")
  const output = stringAt(record, "data", "output")
  return [
    ...(command === undefined
      ? []
      : [textPart({ provenance: "conversational", text: command, pond: { shell: "command" } })]),
    ...(output === undefined ? [] : [injectedText(output, "user-shell")]),
  ]
}

function compactionParts(record: SourceValue): PartDraft<"text">[] {
  const texts = [stringAt(record, "data", "summary"), stringAt(record, "data", "recent")]
  return texts.flatMap((text) => (text === undefined ? [] : [injectedText(text, "compact-summary")]))
}

function filesAt(record: SourceValue, at: Path): PartDraft<"file">[] {
  const files = valueAt(record, ...at)
  if (!Array.isArray(files)) return []
  return files.flatMap((_, index) => {
    const url = stringAt(record, ...at, index, "uri")
    if (url === undefined) return []
    return fileOfUrl(url, {
      mediaType: nonEmptyStringAt(record, ...at, index, "mime"),
      fileName: nonEmptyStringAt(record, ...at, index, "name"),
    })
  })
}

type StepPart = PartDraft<"text" | "reasoning" | "tool_call" | "tool_result" | "opaque">

interface Step {
  readonly record: SourceValue
  readonly said: StepPart[]
  readonly results: PartDraft<"tool_result">[]
  readonly unknown: string[]
}

function assistantDrafts(record: SourceValue, head: Pick<MessageDraft, "id" | "timestamp">): MessageDrafts {
  const content = valueAt(record, "data", "content")
  const step: Step = { record, said: [], results: [], unknown: [] }
  for (const index of Array.isArray(content) ? content.keys() : []) addContent(step, ["data", "content", index])
  const model = valueAt(record, "data", "model", "id")
  const fact = typeof model === "string" ? { pond: { model } } : {}
  const first: MessageDraft = { ...head, ...fact, role: "assistant", parts: step.said }
  const rest: MessageDraft[] = step.results.length === 0 ? [] : [{ ...head, role: "tool", parts: step.results }]
  return { drafts: [first, ...rest], unknown: step.unknown }
}

function addContent(step: Step, at: Path): void {
  const type = stringAt(step.record, ...at, "type")
  const text = stringAt(step.record, ...at, "text")
  if (type?.value === "text" && text !== undefined) step.said.push(textPart({ provenance: "conversational", text }))
  else if (type?.value === "reasoning" && text !== undefined)
    step.said.push(reasoningPart({ provenance: "conversational", text }))
  else if (type?.value === "tool" && addTool(step, at)) return
  else if (type !== undefined) {
    if (type.value !== "tool") step.unknown.push(type.value)
    step.said.push(opaquePart({ provenance: "injected", kind: type }))
  }
}

/** Whether it is a call that can be told apart from others. */
function addTool({ record, said, results }: Step, at: Path): boolean {
  const callId = nonEmptyStringAt(record, ...at, "id")
  const name = nonEmptyStringAt(record, ...at, "name")
  const params = jsonAt(record, ...at, "state", "input")
  if (callId === undefined || name === undefined || params === undefined) return false
  const providerExecuted = booleanAt(record, ...at, "provider", "executed")
  said.push(toolCallPart({ provenance: "conversational", callId, name, params, providerExecuted }))
  const state = fieldsOf(valueAt(record, ...at, "state"))
  if (state["status"] !== "completed" && state["status"] !== "error") return true
  const isProviders = providerExecuted !== undefined && plain(providerExecuted)
  const result = jsonAt(record, ...at, "state", ...resultPlace(state, isProviders))
  if (result === undefined) return true
  const isError = isAt(record, "error", ...at, "state", "status")
  const isFailure =
    isError !== undefined && plain(isError) ? isError : isNonZeroAt(record, ...at, "state", "structured", "exit")
  const part = toolResultPart({ provenance: "injected", callId, name, isFailure, result })
  if (isProviders) said.push(part)
  else results.push(part)
  return true
}

/** What the model is shown: the reason of a failure, the result of a provider's own tool, the content, or what stands for it. */
function resultPlace(state: SourceObject, isProviders: boolean): Path {
  if (state["status"] === "error") return ["error", "message"]
  if (isProviders && "result" in state) return ["result"]
  const content = state["content"]
  return Array.isArray(content) && content.length > 0 ? ["content"] : ["structured"]
}
