/** A line of a transcript of Antigravity: one step, with calls that have no ids, and results that name no call. */
import { jsonUnder, nonEmptyStringUnder, nonEmptyTextUnder, type Placed, splitAt } from "../extract.ts"
import type { Note } from "../notes.ts"
import { injectedText, type PartDraft, reasoningPart, textPart, toolCallPart } from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { spoken } from "../shared/listed-document.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"

const REQUEST = /<USER_REQUEST>\n?([\s\S]*?)\n?<\/USER_REQUEST>/
/** Kinds in which the program speaks, and of which some have no text. */
const TOLD = new Set(["CONVERSATION_HISTORY", "SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE", "ERROR_MESSAGE"])

export function lineDrafts(line: Spot, note: Note): MessageDraft[] {
  const kind = wordUnder(line.value, "type")
  const text = nonEmptyTextUnder(line, "content")
  if (kind === "USER_INPUT") return spoken({ role: "user", parts: text === undefined ? [] : requestParts(text) })
  if (kind === "PLANNER_RESPONSE") return spoken({ role: "assistant", parts: plannedParts(line, text) })
  if (kind === "CHECKPOINT") return toldDrafts(text, "compact-summary")
  if (TOLD.has(kind ?? "")) return toldDrafts(text, "system-reminder")
  if (kind === undefined) note("unknown_record", "a line of no type")
  return toldDrafts(text, "tool-output")
}

function toldDrafts(text: Placed<string> | undefined, injected: string): MessageDraft[] {
  return text === undefined ? [] : [{ role: "user", parts: [injectedText(text, injected)] }]
}

/** What a person typed stands between tags; around them the program says the time, settings and files. */
function requestParts(text: Placed<string>): PartDraft<"text">[] {
  const found = REQUEST.exec(text.value)
  if (found === null) return [textPart({ provenance: "conversational", text })]
  const typed = found[1] ?? ""
  const from = found.index + found[0].indexOf(typed)
  let at = 0
  return splitAt(text, [from, from + typed.length]).map((piece) => {
    const isTyped = at === from
    at += piece.value.length
    return isTyped ? textPart({ provenance: "conversational", text: piece }) : injectedText(piece, "context")
  })
}

function plannedParts(line: Spot, text: Placed<string> | undefined): PartDraft<"text" | "reasoning" | "tool_call">[] {
  const thought = nonEmptyTextUnder(line, "thinking")
  return [
    ...(thought === undefined ? [] : [reasoningPart({ provenance: "conversational", text: thought })]),
    ...(text === undefined ? [] : [textPart({ provenance: "conversational", text })]),
    ...itemsOf(inside(line, "tool_calls")).flatMap((call) => {
      const [name, params] = [nonEmptyStringUnder(call, "name"), jsonUnder(call, "args")]
      // It says no id, and results name no call: the name has to do.
      if (name === undefined || params === undefined) return []
      return [toolCallPart({ provenance: "conversational", callId: name, name, params })]
    }),
  ]
}
