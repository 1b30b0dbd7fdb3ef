/** The answer as the editor shows it: pieces of text, thoughts, calls of tools. All there is where nothing says what the model was sent. */
import {
  flagOf,
  jsonUnder,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  stringHere,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { opaquePart, type PartDraft, reasoningPart, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import { isFilled, type MessageDraft } from "../session-writer.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"

/** What is shown, and no part of what was said. */
const SHOWN_ONLY = new Set([
  ...["prepareToolInvocation", "textEditGroup", "notebookEditGroup", "workspaceEdit", "codeblockUri", "undoStop"],
  ...[
    "progressMessage",
    "progressTaskSerialized",
    "progressTask",
    "confirmation",
    "elicitationSerialized",
    "elicitation",
  ],
  ...[
    "questionCarousel",
    "planReview",
    "command",
    "warning",
    "multiDiffData",
    "treeData",
    "mcpServersStarting",
    "hook",
  ],
  ...["extensions", "pullRequest", "clearToPreviousToolInvocation", "disabledClaudeHooks", "moveMessage"],
])
const CALL = "toolInvocationSerialized"

export function screenDrafts(request: Spot, pond: MessageDraft["pond"], note: Note): MessageDraft[] {
  const drafts: MessageDraft[] = []
  let said: PartDraft<"text" | "reasoning" | "tool_call" | "opaque">[] = []
  const endSaid = (): void => {
    if (isFilled(said)) drafts.push({ role: "assistant", pond, parts: said })
    said = []
  }
  for (const part of itemsOf(inside(request, "response"))) {
    said.push(...shownParts(part, note))
    const results = wordUnder(part.value, "kind") === CALL ? shownResult(part) : []
    if (!isFilled(results)) continue
    endSaid()
    drafts.push({ role: "tool", parts: results })
  }
  endSaid()
  return drafts
}

/** Texts behind the last call. */
export function textsAfterCalls(request: Spot): PartDraft<"text">[] {
  const parts = itemsOf(inside(request, "response"))
  const last = parts.findLastIndex(({ value }) => wordUnder(value, "kind") === CALL)
  return parts.slice(last + 1).flatMap((part) => {
    const text = markdownIn(part)
    return text === undefined ? [] : [textPart({ provenance: "conversational", text })]
  })
}

/** Without a kind, or with that of early versions. */
function markdownIn(part: Spot): Placed<string> | undefined {
  const kind = wordUnder(part.value, "kind")
  const content = kind === "markdownContent" ? inside(part, "content") : part
  if (kind !== undefined && kind !== "markdownContent" && kind !== "markdownVuln") return undefined
  const here = stringHere(part)
  const text = here ?? (content && stringUnder(content, "value"))
  return text === undefined || text.value === "" ? undefined : text
}

function shownParts(part: Spot, note: Note): PartDraft<"text" | "reasoning" | "tool_call" | "opaque">[] {
  const text = markdownIn(part)
  if (text !== undefined) return [textPart({ provenance: "conversational", text })]
  const kind = wordUnder(part.value, "kind")
  switch (kind) {
    case undefined:
    case "markdownVuln":
    case "markdownContent":
      return []
    case "thinking":
      return thoughts(part)
    case "inlineReference": {
      const name = nonEmptyTextUnder(part, "name")
      return name === undefined ? [] : [textPart({ provenance: "conversational", text: name })]
    }
    case CALL:
      return shownCall(part)
    default: {
      const named = nonEmptyStringUnder(part, "kind")
      if (SHOWN_ONLY.has(kind) || named === undefined) return []
      note("unknown_part", kind)
      return [opaquePart({ provenance: "injected", kind: named })]
    }
  }
}

function thoughts(part: Spot): PartDraft<"reasoning">[] {
  const text = nonEmptyTextUnder(part, "value")
  if (text !== undefined) return [reasoningPart({ provenance: "conversational", text })]
  const list = inside(part, "value")
  return itemsOf(list).flatMap((_, at) => {
    const piece = list && nonEmptyTextUnder(list, at)
    return piece === undefined ? [] : [reasoningPart({ provenance: "conversational", text: piece })]
  })
}

/** What a tool was given is known of some: else what the screen said of it. */
function shownCall(part: Spot): PartDraft<"tool_call">[] {
  const [callId, name] = [nonEmptyStringUnder(part, "toolCallId"), nonEmptyStringUnder(part, "toolId")]
  const params = jsonUnder(part, "toolSpecificData") ?? jsonUnder(part, "invocationMessage")
  if (callId === undefined || name === undefined || params === undefined) return []
  return [toolCallPart({ provenance: "conversational", callId, name, params })]
}

function shownResult(part: Spot): PartDraft<"tool_result">[] {
  const callId = nonEmptyStringUnder(part, "toolCallId")
  const result = jsonUnder(part, "resultDetails") ?? jsonUnder(part, "pastTenseMessage")
  if (callId === undefined || result === undefined || shownCall(part).length === 0) return []
  const isFailure = flagOf(inside(part, "resultDetails")?.value ?? null, "isError")
  return [toolResultPart({ provenance: "injected", callId, isFailure, result })]
}
