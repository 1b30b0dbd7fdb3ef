/**
 * What a job of a CI server leaves behind, kept: everything that clients wrote on this machine goes into the store, and
 * each session of the job becomes a page without credentials, for people who open the job's artifacts.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { ADAPTERS } from "../../adapters/registry.ts"
import { PondError } from "../../model/errors.ts"
import { writeNewFile } from "../../platform/files/new-file.ts"
import { bytesOfFile } from "../../platform/files/replace-file.ts"
import { perform } from "../operation.ts"
import type { Pond } from "../pond.ts"
import { shareSession } from "../share/share.ts"
import { type ListedSession, sessions as listSessions } from "../wire/sessions.ts"
import { type SyncOutcome, syncPond } from "./sync.ts"

export interface CaptureRequest {
  /** Sessions in which something was said since then are the job's. Without it, all of them. */
  readonly since?: string
  readonly artifacts?: string
  /** A file with what a client printed. */
  readonly printed?: string
  readonly format?: "md" | "html"
}

interface CapturedSession
  extends Pick<ListedSession, "session_id" | "source_agent" | "project" | "messages_count" | "title"> {
  /** Its page. */
  readonly file: string | null
}

export interface Captured {
  readonly sessions: readonly CapturedSession[]
  /** New in the store. */
  readonly messages: number
  /** Files of clients that could not be read or stored. */
  readonly failed: number
  readonly credentials: number
}

const SESSIONS_MAX = 200

export async function capture(
  pond: Pond,
  { since, artifacts, printed, format = "md" }: CaptureRequest,
  signal: AbortSignal,
): Promise<Captured> {
  const all = { adapters: [], only: [], skip: ["embed" as const], isFull: false, isPatient: true }
  const report = await syncPond(pond, all, { signal })
  const made = printed === undefined ? [] : await storePrinted(pond, printed, signal)
  const adapters = [...report.adapters, ...made.flatMap((each) => each.adapters)]
  const filters = since === undefined ? {} : { filters: { from_date: since } }
  const { sessions } = await perform(listSessions, { pond, signal }, { limit: SESSIONS_MAX, ...filters })
  let credentials = 0
  const captured: CapturedSession[] = []
  for (const { session_id, source_agent, project, messages_count, title } of sessions) {
    let file: string | null = null
    if (artifacts !== undefined) {
      mkdirSync(artifacts, { recursive: true })
      file = join(artifacts, fileName(source_agent, session_id, format))
      const options = { sessionId: session_id, isWhole: true, withSubagents: true, isRedacted: true, format }
      const share = shareSession(pond, options, signal)
      await writeNewFile(file, share.chunks, { isForced: true })
      credentials += (share.replaced() ?? [])
        .filter(({ kind }) => kind !== "home directory")
        .reduce((sum, { count }) => sum + count, 0)
    }
    captured.push({
      session_id,
      source_agent,
      project,
      messages_count,
      ...(title === undefined ? {} : { title }),
      file,
    })
  }
  return {
    sessions: captured,
    messages: adapters.reduce((sum, { messages }) => sum + messages.new, 0),
    failed: adapters.reduce((sum, { sessions: seen }) => sum + seen.failed, 0),
    credentials,
  }
}

/** Sessions that are in the store already have their own log, which holds more than what was printed. */
async function storePrinted(pond: Pond, path: string, signal: AbortSignal): Promise<SyncOutcome[]> {
  const bytes = bytesOfFile(path)
  if (bytes === undefined)
    throw new PondError("not_found", `No file ${path}. Give the file with what the client printed.`, {
      details: { path },
    })
  const output = new TextDecoder().decode(bytes)
  const stored = await pond.sessions()
  const outcomes: SyncOutcome[] = []
  for (const { id, printedLogs } of ADAPTERS) {
    const folder = mkdtempSync(join(tmpdir(), "pond-printed-"))
    try {
      for (const { sessionId, relativePath, text } of printedLogs?.(output) ?? []) {
        if ((await stored.session(sessionId)) !== undefined) continue
        mkdirSync(dirname(join(folder, relativePath)), { recursive: true })
        writeFileSync(join(folder, relativePath), text)
      }
      if (readdirSync(folder).length === 0) continue
      const request = {
        adapters: [id],
        path: folder,
        only: [],
        skip: ["embed" as const],
        isFull: false,
        isPatient: true,
      }
      outcomes.push(await syncPond(pond, request, { signal }))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return outcomes
}

/** Ids are a client's, and may hold anything. */
function fileName(agent: string, id: string, format: string): string {
  return `${`${agent}-${id}`.replace(/[^\w.-]+/g, "-").slice(0, 120)}.${format}`
}
