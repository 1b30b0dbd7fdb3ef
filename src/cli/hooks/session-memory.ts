/**
 * What hooks remember of a running session between two calls: which messages it was told already, and what is to be
 * handed back after a compaction. A small file for each session in the state directory; a lost one costs a repetition.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isJsonObject, parseJson } from "../../model/json.ts"
import { ensureWritable } from "../../platform/host/paths.ts"
import { sha256Of } from "../../platform/sha256.ts"

export interface SessionMemory {
  /** Ids of messages. */
  readonly told: readonly string[]
  /** The session was compacted, and was not told yet what that dropped. */
  readonly isCompacted: boolean
}

const NOTHING: SessionMemory = { told: [], isCompacted: false }
const TOLD_MAX = 500
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000
/** Looking through the directory is cheap, and still not worth it before every prompt. */
const FILES_MAX = 200

export function readMemory(state: string, sessionId: string): SessionMemory {
  try {
    const parsed = parseJson(readFileSync(pathOf(state, sessionId), "utf8"))
    if (!parsed.ok || !isJsonObject(parsed.value)) return NOTHING
    const { told, is_compacted } = parsed.value
    return {
      told: Array.isArray(told) ? told.filter((id) => typeof id === "string") : [],
      isCompacted: is_compacted === true,
    }
  } catch {
    return NOTHING
  }
}

export function writeMemory(
  state: string,
  sessionId: string,
  { told, isCompacted }: SessionMemory,
  nowMs: number,
): void {
  const directory = ensureWritable(join(state, "hooks"))
  const text = `${JSON.stringify({ told: told.slice(-TOLD_MAX), is_compacted: isCompacted })}\n`
  writeFileSync(pathOf(state, sessionId), text, { mode: 0o600 })
  removeOld(directory, nowMs)
}

function removeOld(directory: string, nowMs: number): void {
  const names = readdirSync(directory)
  if (names.length <= FILES_MAX) return
  for (const name of names) {
    const path = join(directory, name)
    const isOld = nowMs - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs) > KEPT_MS
    if (isOld) rmSync(path, { force: true })
  }
}

/** The id is a client's, and may hold anything. */
function pathOf(state: string, sessionId: string): string {
  return join(state, "hooks", `${sha256Of(Buffer.from(sessionId)).slice(0, 32)}.json`)
}
