/**
 * The rows of `session_message`, where newer versions of opencode keep a session as what came out of its events: one row
 * for each thing that was said, with everything that an assistant did in one step inside it.
 */
import type { JsonObject, JsonValue } from "../../model/json.ts"
import { booleanAt, dataUrlIn, isAt, jsonAt, nonEmptyStringAt, stringAt, timestampAt, valueAt } from "../extract.ts"
import {
  filePart,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import type { MessageDrafts } from "./messages.ts"
import { objectOf, type Path } from "./records.ts"

/** Nothing for a row that is no message: a switch of agent or model, and what we do not know. */
export function rowDraftsOf(record: JsonValue): MessageDrafts | undefined {
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

function injectedText(text: NonNullable<ReturnType<typeof stringAt>>, injected: string): PartDraft<"text"> {
  return textPart({ provenance: "injected", text, pond: { injected } })
}

/** A command that the user ran himself: what he typed is said, what came out of it is not. */
function shellParts(record: JsonValue): PartDraft<"text">[] {
  const command = stringAt(record, "data", "command")
  const output = stringAt(record, "data", "output")
  return [
    ...(command === undefined
      ? []
      : [textPart({ provenance: "conversational", text: command, pond: { shell: "command" } })]),
    ...(output === undefined ? [] : [injectedText(output, "user_shell")]),
  ]
}

function compactionParts(record: JsonValue): PartDraft<"text">[] {
  const texts = [stringAt(record, "data", "summary"), stringAt(record, "data", "recent")]
  return texts.flatMap((text) => (text === undefined ? [] : [injectedText(text, "compaction_summary")]))
}

function filesAt(record: JsonValue, at: Path): PartDraft<"file">[] {
  const files = valueAt(record, ...at)
  if (!Array.isArray(files)) return []
  return files.flatMap((_, index) => {
    const url = stringAt(record, ...at, index, "uri")
    if (url === undefined) return []
    const inline = dataUrlIn(url)
    return filePart({
      provenance: "conversational",
      mediaType: inline?.mediaType ?? nonEmptyStringAt(record, ...at, index, "mime"),
      fileName: nonEmptyStringAt(record, ...at, index, "name"),
      data: inline === undefined ? { url } : { base64: inline.base64 },
    })
  })
}

function assistantDrafts(record: JsonValue, head: Pick<MessageDraft, "id" | "timestamp">): MessageDrafts {
  const content = valueAt(record, "data", "content")
  const said: PartDraft<"text" | "reasoning" | "tool_call" | "tool_result" | "opaque">[] = []
  const results: PartDraft<"tool_result">[] = []
  const unknown: string[] = []
  for (const index of Array.isArray(content) ? content.keys() : []) {
    const at: Path = ["data", "content", index]
    const type = stringAt(record, ...at, "type")
    const text = stringAt(record, ...at, "text")
    if (type?.value === "text" && text !== undefined) said.push(textPart({ provenance: "conversational", text }))
    else if (type?.value === "reasoning" && text !== undefined)
      said.push(reasoningPart({ provenance: "conversational", text }))
    else if (type?.value === "tool" && addTool(record, at, said, results)) continue
    else if (type !== undefined) {
      if (type.value !== "tool") unknown.push(type.value)
      said.push(opaquePart({ provenance: "injected", kind: type }))
    }
  }
  const first: MessageDraft = { ...head, role: "assistant", parts: said }
  const rest: MessageDraft[] = results.length === 0 ? [] : [{ ...head, role: "tool", parts: results }]
  return { drafts: [first, ...rest], unknown }
}

function addTool(
  record: JsonValue,
  at: Path,
  said: PartDraft<"text" | "reasoning" | "tool_call" | "tool_result" | "opaque">[],
  results: PartDraft<"tool_result">[],
): boolean {
  const callId = nonEmptyStringAt(record, ...at, "id")
  const name = nonEmptyStringAt(record, ...at, "name")
  const params = jsonAt(record, ...at, "state", "input")
  if (callId === undefined || name === undefined || params === undefined) return false
  const providerExecuted = booleanAt(record, ...at, "provider", "executed")
  const common = { provenance: "conversational" as const, callId }
  said.push(toolCallPart({ ...common, name, params, providerExecuted }))
  const state = objectOf(valueAt(record, ...at, "state"))
  const isFailure = isAt(record, "error", ...at, "state", "status")
  const result = jsonAt(record, ...at, "state", ...resultPlace(state, providerExecuted?.value === true))
  if (result === undefined || (state["status"] !== "completed" && state["status"] !== "error")) return true
  const part = toolResultPart({ ...common, name, isFailure, result })
  if (providerExecuted?.value === true) said.push(part)
  else results.push(part)
  return true
}

/** What the model is shown: the reason of a failure, the result of a provider's own tool, or the content. */
function resultPlace(state: JsonObject, isProviders: boolean): Path {
  if (state["status"] === "error") return ["error", "message"]
  return isProviders && "result" in state ? ["result"] : ["content"]
}
