/**
 * Superseded messages. Some clients append a message again with more in it. Both records are kept and restored natively;
 * readers of the conversation see the last one only.
 *
 * The later message says `options.pond.supersedes`: the id of the one before it. Stored rows are never changed, so the
 * earlier one says nothing; the session says `options.pond.reappends`, so that in all others nobody has to look.
 */
import { isJsonObject } from "./json.ts"
import type { Entry, Message, Session, SessionLog } from "./session.ts"

/** The key in the stored options, below `pond`, of a session whose client appends messages again. */
export const REAPPENDS_JSON = '"reappends":true'
export const SUPERSEDES_JSON = '"supersedes":'

export function reappends({ options }: Session): boolean {
  const pond = options["pond"]
  return isJsonObject(pond as never) && (pond as { reappends?: unknown }).reappends === true
}

/** The id of the message that this one stands for since. */
export function supersededBy({ options }: Pick<Message, "options">): string | undefined {
  const pond = options["pond"] as { supersedes?: unknown } | undefined
  return typeof pond?.supersedes === "string" ? pond.supersedes : undefined
}

/** The conversation as its client shows it: each message as it was said last, where it was said first. */
export function withoutSuperseded(log: SessionLog): SessionLog {
  if (!reappends(log.session)) return log
  const at = new Map<string, number>()
  const entries: Entry[] = []
  for (const entry of log.entries) {
    const before = supersededBy(entry.message)
    const position = before === undefined ? undefined : at.get(before)
    if (position === undefined) at.set(entry.message.id, entries.push(entry) - 1)
    else {
      entries[position] = entry
      at.set(entry.message.id, position)
    }
  }
  return { ...log, entries }
}
