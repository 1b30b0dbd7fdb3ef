/**
 * Native restore: the rollouts as they lay, and the thread's lines of the index of titles. A rollout that goes on from
 * another thread's is nothing without it, so `needs` names that thread.
 */
import type { SessionLog } from "../../model/session.ts"
import type { OutputFile, Serialized } from "../adapter.ts"
import { nativeFiles } from "../shared/native.ts"
import { basesOf } from "./lineage.ts"
import { INDEX_PLACE } from "./parse.ts"

export function native(log: SessionLog): Serialized {
  const files = nativeFiles(log).map((file): OutputFile => {
    return file.form === "log" && file.place === INDEX_PLACE ? { ...file, isShared: true } : file
  })
  return { sessionId: log.session.id, files, losses: [] }
}

/** The threads whose rollouts this one inherits history from. */
export function needs(log: SessionLog): readonly string[] {
  return [...new Set(basesOf(log).map(({ threadId }) => threadId))]
}
