/**
 * The outcome of each sync on this machine, newest last: a line of JSON each, in the state directory. `status` and
 * `schedule logs` read it. It is for people: a line that cannot be read is passed over, and old ones go.
 */
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PondError, toPondError } from "../../model/errors.ts"
import { isJsonObject, parseJson } from "../../model/json.ts"
import { ensureWritable } from "../../platform/host/paths.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { SyncReport } from "../../sync/sync.ts"
import type { Pond } from "../pond.ts"

export interface SyncRecord {
  readonly at: string
  readonly ms: number
  readonly store: string
  readonly exit_code: number
  readonly sessions: number
  readonly messages: number
  /** What it failed with; nothing where it came to its end. */
  readonly error: string | null
}

const BYTES_MAX = 256 * 1024
const LINES_KEPT = 500

/** Newest last. */
export function readSyncHistory({ host }: Pond): SyncRecord[] {
  return linesOf(historyPath(host.path("state"))).flatMap((line) => {
    const parsed = parseJson(line)
    return parsed.ok && isJsonObject(parsed.value) && "exit_code" in parsed.value
      ? [parsed.value as unknown as SyncRecord]
      : []
  })
}

export interface Noting {
  readonly exitCodeOf: (report: SyncReport) => number
  /** If a sync does not stop in time, the functions added here are run before the process ends. */
  readonly onEnd?: ((note: () => void) => void) | undefined
  /** Of one that is left behind: how many messages it has stored by then. */
  readonly stored: () => number
}

/** Runs a sync and notes how it ended, whichever way that was. */
export async function noted(
  pond: Pond,
  { exitCodeOf, onEnd, stored }: Noting,
  run: () => Promise<SyncReport>,
): Promise<SyncReport> {
  const { clock } = pond.host
  const [startedMs, fromMs] = [clock.nowMs(), clock.monotonicMs()]
  let isNoted = false
  const note = (rest: Pick<SyncRecord, "exit_code" | "sessions" | "messages" | "error">) => {
    if (isNoted) return
    isNoted = true
    const at = new Date(startedMs).toISOString()
    append(pond, { at, ms: Math.round(clock.monotonicMs() - fromMs), store: pond.storeName(), ...rest })
  }
  const { exit: interrupted } = new PondError("interrupted", "left").row
  onEnd?.(() => note({ exit_code: interrupted, sessions: 0, messages: stored(), error: "interrupted" }))
  try {
    const report = await run()
    const touched = ({ sessions }: SyncReport["adapters"][number]) => sessions.new + sessions.grown + sessions.rewritten
    note({
      exit_code: exitCodeOf(report),
      sessions: report.adapters.reduce((sum, root) => sum + touched(root), 0),
      messages: report.adapters.reduce((sum, { messages }) => sum + messages.new, 0),
      error: report.interrupted ? "interrupted" : null,
    })
    return report
  } catch (error) {
    const { row, message } = toPondError(error)
    note({ exit_code: row.exit, sessions: 0, messages: 0, error: message })
    throw error
  }
}

/** A history that cannot be written costs nobody a sync. */
function append({ host }: Pond, record: SyncRecord): void {
  try {
    const path = historyPath(ensureWritable(host.path("state")))
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > BYTES_MAX) {
      writeFileSync(
        path,
        linesOf(path)
          .slice(-LINES_KEPT)
          .map((line) => `${line}\n`)
          .join(""),
        { mode: 0o600 },
      )
    }
    appendFileSync(path, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  } catch (error) {
    host.log.debug(`Cannot write the sync history: ${toPondError(error).message}`)
  }
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
  } catch (error) {
    if (isSystemError(error)) return []
    throw error
  }
}

function historyPath(directory: string): string {
  return join(directory, "syncs.jsonl")
}
