/**
 * What a conversation tells, as plain items in order, so that two clients' tellings of it can be compared exactly.
 * Knows turns, and no client's format.
 */
import type { Conversation, ForeignTarget } from "../adapters/adapter.ts"
import type { ResultContent } from "../adapters/shared/translate.ts"
import { type Turn, turnsOf } from "../adapters/shared/turns.ts"
import { stringifyJson } from "../model/json.ts"

/** `target` is the vocabulary that calls are told in. */
export function toldBy(
  conversation: Conversation,
  target: string,
  reasoning: ForeignTarget["reasoning"],
): readonly string[] {
  return turnsOf(conversation, target, reasoning).turns.flatMap(itemsOf)
}

function itemsOf({ role, blocks }: Turn): string[] {
  return blocks.flatMap((block): string[] => {
    if (block.type === "text") return [`${role}: ${block.text}`]
    if (block.type === "reasoning") return [`reasoning: ${block.text}`]
    if (block.type === "file") return [`${role} file: ${block.file.media_type} ${stringifyJson(block.file.data)}`]
    const call = `call: ${block.name} ${sorted(paramsOf(block.params))}`
    return block.result === undefined ? [call] : [call, `result: ${contentText(block.result.content)}`]
  })
}

/** Most clients hold parameters as an object: a text stands in it as the input. */
function paramsOf(params: unknown): unknown {
  return typeof params === "string" ? { input: params } : params
}

function contentText(content: readonly ResultContent[]): string {
  return content.map((piece) => (piece.type === "text" ? piece.text : `${piece.mediaType} ${piece.base64}`)).join("\n")
}

/** Key order is no difference. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  )
}
