/**
 * A tool call of one client in the words of another, and a tool result as plain content.
 * Knows the form of vocabularies, and no client's.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import { toolOfPatch } from "./patches.ts"
import { type NeutralTool, readTool, type ToolKind, type Vocabulary, writeTool } from "./vocabulary.ts"

export interface ToolCall {
  readonly name: string
  readonly params: JsonValue
}

export interface TranslatedCall extends ToolCall {
  readonly kind: ToolKind
  /** Parameters of the source and neutral fields that the new call does not say: each is a loss. */
  readonly lost: readonly string[]
}

/** Undefined where the call keeps its own name and parameters: the target has no equal, or made it. */
export function translateCall(
  source: Vocabulary | undefined,
  target: Vocabulary | undefined,
  call: ToolCall,
): TranslatedCall | undefined {
  if (source === undefined || target === undefined || source === target) return undefined
  const read = readTool(source, call.name, call.params)
  if (read === undefined) return undefined
  const tool = writable(target, read.tool)
  const written = tool === undefined ? undefined : writeTool(target, tool)
  if (tool === undefined || written === undefined) return undefined
  const { name, params, unwritten } = written
  return { name, params, kind: tool.kind, lost: [...read.unread, ...unwritten] }
}

/** The tool as it is, or as what the target has instead of it. */
function writable(target: Vocabulary, tool: NeutralTool): NeutralTool | undefined {
  const { patch } = tool.fields
  const isForeign = tool.kind === "patch" && !target.some(({ kind }) => kind === "patch")
  return isForeign && typeof patch === "string" ? toolOfPatch(patch) : tool
}

// --- Results --------------------------------------------------------------------------------------------------------

export type ResultContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly mediaType: string; readonly base64: string }

/** Whether it is a picture. What tools show besides, such as a PDF, most providers refuse in a result. */
export function isPicture(content: ResultContent): boolean {
  return content.type === "image" && content.mediaType.startsWith("image/")
}

/** Whether a text stands behind something else: clients that keep the texts of a result apart put them first. */
export function hasTextBehind(content: readonly ResultContent[]): boolean {
  const first = content.findIndex(({ type }) => type !== "text")
  return first >= 0 && content.some(({ type }, at) => type === "text" && at > first)
}

/**
 * What a model was shown as the result of a call, in the shapes that clients write it: a text, a list of blocks of the
 * Anthropic, OpenAI, Google or pi form, or an object that holds one of these. Anything else is shown as the JSON that it is.
 */
export function resultContent(result: JsonValue): readonly ResultContent[] {
  if (typeof result === "string") return [{ type: "text", text: result }]
  if (Array.isArray(result)) return withoutEmpty(result.flatMap(blockContent))
  if (isJsonObject(result)) {
    for (const key of ["output", "content"]) {
      const inner = result[key]
      if (typeof inner === "string" || Array.isArray(inner)) return resultContent(inner)
    }
    if (isJsonObject(result["functionResponse"])) return withoutEmpty(blockContent(result))
  }
  return result === null ? [] : [{ type: "text", text: stringifyJson(result) }]
}

/** An empty text among others says nothing, and the clients whose providers take none leave it out. */
function withoutEmpty(content: readonly ResultContent[]): readonly ResultContent[] {
  const said = content.filter((piece) => piece.type !== "text" || piece.text !== "")
  return said.length === 0 ? content : said
}

/** The texts of a result as one, which is how clients without blocks hold it. */
export function resultText(result: JsonValue): string {
  return resultContent(result)
    .flatMap((content) => (content.type === "text" ? [content.text] : []))
    .join("\n")
}

function blockContent(block: JsonValue): readonly ResultContent[] {
  if (!isJsonObject(block)) return [{ type: "text", text: typeof block === "string" ? block : stringifyJson(block) }]
  const { text, functionResponse } = block
  if (typeof text === "string") return [{ type: "text", text }]
  if (isJsonObject(functionResponse)) return responseContent(functionResponse)
  return [imageContent(block) ?? { type: "text", text: stringifyJson(block) }]
}

/** As Google has it: what came is the output or an error, and pictures stand beside it. */
function responseContent({ response, parts }: JsonObject): readonly ResultContent[] {
  const { output, error } = isJsonObject(response) ? response : {}
  const said = output ?? error ?? response ?? null
  const beside = Array.isArray(parts) ? parts.flatMap(blockContent) : []
  return [...resultContent(said), ...beside]
}

function imageContent({ type, data, mimeType, source, image_url: url, inlineData }: JsonObject) {
  if (type === "image" && typeof data === "string" && typeof mimeType === "string")
    return { type: "image", mediaType: mimeType, base64: data } as const
  if (isJsonObject(source) && typeof source["data"] === "string" && typeof source["media_type"] === "string")
    return { type: "image", mediaType: source["media_type"], base64: source["data"] } as const
  if (isJsonObject(inlineData) && typeof inlineData["data"] === "string" && typeof inlineData["mimeType"] === "string")
    return { type: "image", mediaType: inlineData["mimeType"], base64: inlineData["data"] } as const
  const place = isJsonObject(url) ? url["url"] : url
  const found = typeof place === "string" ? /^data:([^;,]+);base64,(.*)$/s.exec(place) : null
  return found?.[1] === undefined || found[2] === undefined
    ? undefined
    : ({ type: "image", mediaType: found[1], base64: found[2] } as const)
}
