/**
 * The check of a restore, for verify: what would be written is written elsewhere, found by the client's own source, and read
 * back. Many sessions are checked together, because a draft costs a directory and a walk of it however little is in it.
 */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import type { Adapter } from "../adapters/adapter.ts"
import { revisionOf } from "../adapters/shared/native.ts"
import { PondError } from "../model/errors.ts"
import type { Issue } from "../model/report.ts"
import type { SessionLog } from "../model/session.ts"
import { realFiles } from "../platform/files/files.ts"
import { writeForeignRows } from "../platform/files/foreign-sqlite-writer.ts"
import { codeUnitsOf, type StoredLog } from "../sessions/read/read-sessions.ts"
import { isAllowedId, isAllowedPath } from "./allowed-output.ts"
import { checkNative } from "./check.ts"
import type { Mismatch } from "./compare.ts"
import { writeDraft } from "./draft.ts"
import { mergeFiles } from "./output-files.ts"
import { type WrittenLog, writeNative } from "./write-native.ts"

export interface RestoreChecks {
  /** Something may be found now of sessions that were added before. */
  add(log: SessionLog): Promise<void>
  end(): Promise<void>
}

export interface RestoreFindings {
  readonly onMismatch: (mismatch: Mismatch) => void
  /** Of a session that reads back, and that a restore into its own client refuses all the same. */
  readonly onIssue: (issue: Issue) => void
}

const SESSIONS_AT_ONCE = 200
const UNITS_AT_ONCE = 16 << 20

/** `folder` is made and removed for each draft. */
export function createRestoreChecks(
  adapter: Adapter,
  folder: string,
  { onMismatch, onIssue }: RestoreFindings,
): RestoreChecks {
  let waiting: WrittenLog[] = []
  let units = 0
  let drafts = 0

  async function differenceOf(written: readonly WrittenLog[]): Promise<string | undefined> {
    const draft = join(folder, String(drafts++))
    // Nobody goes on with it after a crash.
    const files = { ...realFiles, sync: () => Promise.resolve() }
    try {
      const output = mergeFiles(written.flatMap((each) => each.files))
      await writeDraft(files, draft, output, async (path, file) => writeForeignRows(path, file).backups)
      return (await checkNative(adapter, written, draft)).difference
    } catch (error) {
      if (!(error instanceof PondError)) throw error
      return error.message
    } finally {
      await rm(draft, { recursive: true, force: true })
    }
  }

  async function check(): Promise<void> {
    const written = waiting
    waiting = []
    units = 0
    if (written.length === 0 || (await differenceOf(written)) === undefined) return
    // Which of them it is: a difference names the first one alone.
    for (const each of written) {
      const difference = await differenceOf([each])
      if (difference !== undefined) onMismatch(mismatchOf(each, difference))
    }
  }

  return {
    add: async (log) => {
      // Two copies of a session have one place.
      if (waiting.some(({ session }) => session.id === log.session.id)) await check()
      const written = await writeNative(storedLog(log), adapter, undefined)
      const refused = refusalOf(adapter, written)
      if (refused !== undefined) onIssue(refused)
      waiting.push(written)
      units += codeUnitsOf(log.entries)
      if (waiting.length >= SESSIONS_AT_ONCE || units >= UNITS_AT_ONCE) await check()
    },
    end: check,
  }
}

/** Such a session goes on by `--anew`, and a native restore would not be the client's own. */
function refusalOf(adapter: Adapter, { session, sessionId, files }: WrittenLog): Issue | undefined {
  const refused = files.find(({ relativePath }) => !isAllowedPath(adapter, relativePath))?.relativePath
  const file = refused ?? files[0]?.relativePath ?? session.id
  const common = { severity: "note" as const, file }
  if (!isAllowedId(adapter, sessionId))
    return { kind: "unusual_id", ...common, found: `${sessionId}: only \`--anew\` restores it into ${adapter.title}` }
  if (refused === undefined) return undefined
  return { kind: "unusual_place", ...common, found: `only \`--anew\` restores it into ${adapter.title}` }
}

function mismatchOf({ session, files }: WrittenLog, difference: string): Mismatch {
  const [main] = files
  const file = main?.relativePath ?? session.id
  return {
    session: session.id,
    file,
    record: 1,
    pointer: "",
    expected: "a session that can be restored",
    got: difference,
  }
}

function storedLog({ session, entries }: SessionLog): StoredLog {
  return {
    session,
    async *stretches() {
      yield entries
    },
    revisions: async () => entries.filter(({ message }) => revisionOf(message) !== undefined),
  }
}
