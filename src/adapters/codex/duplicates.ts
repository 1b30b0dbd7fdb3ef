/**
 * Codex writes what was said twice: as an item of the model's history, and as an event for its screen. The item is the
 * message, the event its carrier. In every real rollout a user's event comes right behind its item, an agent's event right
 * before it; a log that has no items at all (what other tools export) has its messages in the events.
 */
import type { PartBody } from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"

/** What has to be remembered of one rollout. */
export interface SpeechState {
  /** Records since a user's item that no event has claimed yet. */
  readonly unclaimed?: number
  /** Whether the rollout has items: its agent's events are then copies. */
  readonly hasItems?: true
  /** Whether pond wrote the rollout: reasoning stands in events alone there, which are shown and never sent. */
  readonly isOurs?: true
  /** What events said as messages, for the item that may still come. */
  readonly user?: Said
  readonly assistant?: Said
}

/** What was said: a hash where an earlier parse read it, the words themselves where this one did. */
type Said = string | { readonly words: string; readonly isThought: boolean }

/** What of the state is kept from one parse to the next: hashes. */
export function keptSpeech(state: SpeechState): SpeechState {
  const { user, assistant } = state
  const kept = user === undefined ? state : { ...state, user: hashOf(user) }
  return assistant === undefined ? kept : { ...kept, assistant: hashOf(assistant) }
}

function hashOf(said: Said): string {
  if (typeof said === "string") return said
  const hash = Bun.hash.xxHash64(said.words).toString(16)
  return said.isThought ? `thought ${hash}` : hash
}

function isSameSaid(left: Said, right: Said): boolean {
  if (typeof left === "string" || typeof right === "string") return hashOf(left) === hashOf(right)
  return left.isThought === right.isThought && left.words === right.words
}

/** Between an item and its event stand a few other records at most. */
const CLAIM_DISTANCE = 8

/** Whether a record that says something says again what another record is the message of. */
export function saysAgain(reading: { speech: SpeechState }, from: "item" | "event", draft: MessageDraft): boolean {
  const before = older(reading.speech)
  if (from === "item") return itemSaysAgain(reading, before, draft)
  reading.speech = before
  if (draft.role === "user") {
    const { unclaimed, ...rest } = before
    reading.speech = unclaimed === undefined ? { ...before, user: saidIn(draft) } : rest
    return unclaimed !== undefined
  }
  if (before.hasItems === true && !(isThought(draft) && before.isOurs)) return true
  reading.speech = { ...before, assistant: saidIn(draft) }
  return false
}

/** The state after a record that says nothing. */
export function older(state: SpeechState): SpeechState {
  if (state.unclaimed === undefined) return state
  const { unclaimed, ...rest } = state
  return unclaimed >= CLAIM_DISTANCE ? rest : { ...rest, unclaimed: unclaimed + 1 }
}

function itemSaysAgain(reading: { speech: SpeechState }, before: SpeechState, draft: MessageDraft): boolean {
  const next: SpeechState = before.hasItems === true ? before : { ...before, hasItems: true }
  reading.speech = next
  // Where no person said a word, pond shows what a harness said first: that event is a copy, too.
  if (draft.role === "user" && (saysSomething(draft) || next.isOurs === true)) {
    const { user, ...rest } = next
    const isCopy = user !== undefined && isSameSaid(user, saidIn(draft))
    reading.speech = isCopy ? rest : { ...rest, unclaimed: 0 }
    return isCopy
  }
  if (draft.role !== "assistant" || next.assistant === undefined || !saysSomething(draft)) return false
  const { assistant, ...rest } = next
  reading.speech = rest
  return isSameSaid(assistant, saidIn(draft))
}

function saysSomething(draft: MessageDraft): boolean {
  if (draft.role !== "user" && draft.role !== "assistant") return false
  for (const part of draft.parts) if (isSaid(part) || part.type === "file") return true
  return false
}

function isSaid(body: PartBody): body is Extract<PartBody, { type: "text" | "reasoning" }> {
  return (body.type === "text" || body.type === "reasoning") && body.provenance === "conversational"
}

/** What a person or the model said in a message. Injected text is not said, and a thought is no answer of the same words. */
function saidIn(draft: MessageDraft): Said {
  if (draft.role !== "user" && draft.role !== "assistant") return ""
  let words: string | undefined
  for (const part of draft.parts) if (isSaid(part)) words = words === undefined ? part.text : `${words}\n${part.text}`
  if (words === undefined) return draft.parts.some(({ type }) => type === "file") ? "file" : ""
  return { words: words.trim(), isThought: isThought(draft) }
}

function isThought(draft: MessageDraft): boolean {
  return draft.role === "assistant" && draft.parts.some(({ type }) => type === "reasoning")
}
