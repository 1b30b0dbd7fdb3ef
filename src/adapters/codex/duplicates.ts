/**
 * Codex writes what was said twice (`adapter-integrity-dedup`): as an item of the model's history, and as an event for its screen. The item is the
 * message, the event its carrier. In every real rollout a user's event comes right behind its item, an agent's event right
 * before it; a log that has no items at all (what other tools export) has its messages in the events.
 */
import type { PartBody } from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"

/** What goes of one rollout from one parse to the next. Plain JSON. */
export interface SpeechState {
  /** Records since a user's item that no event has claimed yet. */
  readonly unclaimed?: number
  /** Whether the rollout has items: its agent's events are then copies. */
  readonly hasItems?: true
  /** Whether pond wrote the rollout: reasoning stands in events alone there, which are shown and never sent. */
  readonly isOurs?: true
  /** What events said as messages, for the item that may still come: hashes. */
  readonly user?: string
  readonly assistant?: string
}

/** The same while a rollout is read, changed by nearly every line. */
export interface Speech {
  unclaimed: number | undefined
  hasItems: boolean
  isOurs: boolean
  user: Said | undefined
  assistant: Said | undefined
}

/**
 * What was said: a hash where an earlier parse read it, the words themselves where this one did. White space around the words
 * makes no difference.
 */
type Said = string | { readonly words: string; readonly isThought: boolean }

export function speechOf({ unclaimed, hasItems, isOurs, user, assistant }: SpeechState): Speech {
  return { unclaimed, hasItems: hasItems === true, isOurs: isOurs === true, user, assistant }
}

export function keptSpeech({ unclaimed, hasItems, isOurs, user, assistant }: Speech): SpeechState {
  return {
    ...(unclaimed === undefined ? {} : { unclaimed }),
    ...(hasItems ? { hasItems } : {}),
    ...(isOurs ? { isOurs } : {}),
    ...(user === undefined ? {} : { user: speechHash(user) }),
    ...(assistant === undefined ? {} : { assistant: speechHash(assistant) }),
  }
}

function speechHash(said: Said): string {
  if (typeof said === "string") return said
  const hash = Bun.hash.xxHash64(said.words.trim()).toString(16)
  return said.isThought ? `thought ${hash}` : hash
}

function isSameSaid(left: Said, right: Said): boolean {
  if (typeof left === "string" || typeof right === "string") return speechHash(left) === speechHash(right)
  if (left.isThought !== right.isThought) return false
  // What is said again is mostly the same to the last blank, and a text without its blanks is another text.
  return left.words === right.words || left.words.trim() === right.words.trim()
}

/** Between an item and its event stand a few other records at most. */
const CLAIM_DISTANCE = 8

/** Whether a record that says something says again what another record is the message of. */
export function saysAgain(speech: Speech, from: "item" | "event", draft: MessageDraft): boolean {
  grewOlder(speech)
  if (from === "item") return itemSaysAgain(speech, draft)
  if (draft.role === "user") {
    const isClaimed = speech.unclaimed !== undefined
    if (!isClaimed) speech.user = saidIn(draft)
    speech.unclaimed = undefined
    return isClaimed
  }
  if (speech.hasItems && !(isThought(draft) && speech.isOurs)) return true
  speech.assistant = saidIn(draft)
  return false
}

/** One record more has come. */
export function grewOlder(speech: Speech): void {
  if (speech.unclaimed === undefined) return
  speech.unclaimed = speech.unclaimed >= CLAIM_DISTANCE ? undefined : speech.unclaimed + 1
}

function itemSaysAgain(speech: Speech, draft: MessageDraft): boolean {
  speech.hasItems = true
  // Where no person said a word, pond shows what a harness said first: that event is a copy, too.
  if (draft.role === "user" && (saysSomething(draft) || speech.isOurs)) {
    const { user } = speech
    const isCopy = user !== undefined && isSameSaid(user, saidIn(draft))
    speech.user = undefined
    if (!isCopy) speech.unclaimed = 0
    return isCopy
  }
  const { assistant } = speech
  if (draft.role !== "assistant" || assistant === undefined || !saysSomething(draft)) return false
  speech.assistant = undefined
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
  let hasFile = false
  for (const part of draft.parts) {
    if (isSaid(part)) words = words === undefined ? part.text : `${words}\n${part.text}`
    else if (part.type === "file") hasFile = true
  }
  if (words === undefined) return hasFile ? "file" : ""
  return { words, isThought: isThought(draft) }
}

function isThought(draft: MessageDraft): boolean {
  if (draft.role !== "assistant") return false
  for (const { type } of draft.parts) if (type === "reasoning") return true
  return false
}
