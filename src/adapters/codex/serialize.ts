/**
 * Native restore: the rollouts as they lay, and the thread's lines of the index of titles. A rollout that goes on from
 * another thread's is nothing without it, so `needs` names that thread.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { SessionLog } from "../../model/session.ts"
import type { OutputFile, Serialized } from "../adapter.ts"
import { valueAt } from "../extract.ts"
import { nativeFiles, sourceOf } from "../shared/native.ts"
import { INDEX_PLACE } from "./parse.ts"
import { rolloutName } from "./rollout-name.ts"

export function native(log: SessionLog): Serialized {
  const files = nativeFiles(log).map((file): OutputFile => {
    return file.form === "log" && file.place === INDEX_PLACE ? { ...file, isShared: true } : file
  })
  return { sessionId: log.session.id, files, losses: [] }
}

/** The threads whose rollouts this one inherits history from. */
export function needs(log: SessionLog): readonly string[] {
  const main = valueAt(log.session.options as JsonObject, "source", "file")
  const own = new Set([log.session.id, rolloutIdOf(main)])
  const wanted: { readonly rolloutId: string; readonly threadId: string }[] = []
  for (const { message } of log.entries) {
    const { record, file } = sourceOf(message)
    own.add(rolloutIdOf(file))
    if (!isJsonObject(record) || record["type"] !== "session_meta") continue
    const rolloutId = valueAt(record, "payload", "history_base", "thread_id")
    // What is called a thread there is a rollout: of a thread that was reverted, one of its later ones.
    const threadId = valueAt(record, "payload", "forked_from_id") ?? rolloutId
    if (typeof rolloutId === "string" && typeof threadId === "string") wanted.push({ rolloutId, threadId })
  }
  return [...new Set(wanted.filter(({ rolloutId }) => !own.has(rolloutId)).map(({ threadId }) => threadId))]
}

function rolloutIdOf(place: JsonValue | undefined): string | undefined {
  return typeof place === "string" ? rolloutName(place)?.rolloutId : undefined
}
