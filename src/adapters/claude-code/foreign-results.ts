/**
 * What a tool gave back, twice, as Claude Code writes it: the blocks that its model is sent, and beside them what it shows
 * to a person. Where a tool's own form of the second is not known from the first, it is left out and nothing is shown.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { ResultContent } from "../shared/translate.ts"
import type { CallBlock, CallResult } from "../shared/turns.ts"
import type { Agent } from "./foreign-agents.ts"

/** The kinds of images that the API takes. Any other makes it refuse the whole conversation. */
export const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])

export function sentContent(content: readonly ResultContent[]): JsonValue {
  const [only] = content
  if (only === undefined) return ""
  if (content.length === 1 && only.type === "text") return only.text
  return content.flatMap((block): JsonObject[] => {
    if (block.type === "text") return block.text === "" ? [] : [{ type: "text", text: block.text }]
    if (block.mediaType === "application/pdf")
      return [{ type: "document", source: { type: "base64", media_type: block.mediaType, data: block.base64 } }]
    if (!IMAGES.has(block.mediaType)) return [{ type: "text", text: `[${block.mediaType}]` }]
    return [{ type: "image", source: { type: "base64", media_type: block.mediaType, data: block.base64 } }]
  })
}

/** `call` is as it is written: its name and parameters are the client's own where they have an equal. */
export function shownResult(call: CallBlock, result: CallResult, agent: Agent | undefined): JsonValue | undefined {
  const texts = result.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
  const text = texts.join("\n")
  if (agent !== undefined) {
    const content = texts.map((value) => ({ type: "text", text: value }))
    // The client finds an agent's log by the id that stands here.
    return { status: "completed", prompt: agent.prompt, agentId: agent.id, agentType: agent.type, content }
  }
  if (result.isFailure) return `Error: ${text}`
  const { name, params } = call
  if (!isJsonObject(params)) return undefined
  if (name === "Bash" && texts.length === result.content.length)
    return { stdout: text, stderr: "", interrupted: false, isImage: false }
  const { file_path: filePath, content } = params
  if (name === "Write" && filePath !== undefined && content !== undefined)
    return { type: "create", filePath, content, structuredPatch: [], originalFile: null }
  return undefined
}
