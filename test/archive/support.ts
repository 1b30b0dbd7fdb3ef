/** Stores with the sessions of four clients, archives of them, and archives that nobody should take. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { open } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { exportArchive } from "../../src/archive/export.ts"
import { type Manifest, manifestBytes, manifestSum } from "../../src/archive/file/manifest.ts"
import { createEntryWriter, readContent, readEntries } from "../../src/archive/file/tar.ts"
import { importArchive } from "../../src/archive/import.ts"
import type { SessionFilter } from "../../src/archive/rows/selection.ts"
import type { Work } from "../../src/archive/work.ts"
import type { Entry, SessionLog } from "../../src/model/session.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { sha256Of } from "../../src/platform/sha256.ts"
import { openSessions, type Sessions } from "../../src/sessions/store.ts"
import { embeddingsTable } from "../../src/sessions/tables.ts"
import { type Location, parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { runSync } from "../../src/sync/sync.ts"
import { MOMENT, session } from "../sessions/support.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")
/** With images, agents, forks, damaged lines and odd numbers among them. */
const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  "claude-code": ["image", "agent", "fork"],
  codex: ["image", "agents", "damaged", "odd-numbers"],
  opencode: ["image", "subagent"],
  pi: ["branches", "forked"],
}

export interface Place extends Disposable {
  readonly path: string
  /** Another store in this place. */
  open(name: string): Sessions
  openAt(location: Location): Sessions
  file(name: string): string
}

export function place(): Place {
  const path = mkdtempSync(join(tmpdir(), "pond-archive-"))
  const opened: Sessions[] = []
  const openAt = (location: Location) => {
    const store = openStore(location, { log: silentLog, clock: systemClock, random: seededRandom(1) })
    const sessions = openSessions(store, { clock: systemClock, host: "test" })
    opened.push(sessions)
    return sessions
  }
  return {
    path,
    openAt,
    open: (name) => openAt(parseLocation(join(path, name), { environment: {} })),
    file: (name) => join(path, name),
    [Symbol.dispose]: () => {
      for (const sessions of opened) sessions.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** The images of the fixtures are all the same one. */
const attachment: Entry = {
  message: { id: "a0", session_id: "attached", ordinal: 0, timestamp: MOMENT, options: {}, role: "user" },
  parts: [
    {
      id: "a0:0",
      session_id: "attached",
      message_id: "a0",
      provenance: "conversational",
      options: {},
      type: "file",
      media_type: "application/octet-stream",
      data: { base64: Buffer.from("bytes of its own").toString("base64") },
    },
  ],
}

export const EMBEDDINGS = embeddingsTable(4)

/** The sessions of the fixtures, and a vector for each of the first ten messages. */
export async function fill(sessions: Sessions, state: string): Promise<void> {
  const sources = ADAPTERS.flatMap((adapter) =>
    (SCENARIOS[adapter.id] ?? []).map((name) => ({ adapter, root: join(FIXTURES, adapter.id, name, "root") })),
  )
  await runSync(
    { sources, stages: ["import"], isFull: false, isPatient: false },
    {
      storeName: "test",
      stateDirectory: state,
      storeMark: () => undefined,
      sessions: () => Promise.resolve(sessions),
      clock: systemClock,
      log: silentLog,
      signal: new AbortController().signal,
    },
  )
  await sessions.write([{ session: session("attached", { source_agent: "pi" }), entries: [attachment] }])
  const columns = ["session_id", "id", "role", "source_agent", "project", "timestamp", "lane", "ingested_at"] as const
  const messages = await sessions.tables.messages.read({ columns, limit: 10 })
  await sessions.store.table(EMBEDDINGS).insertAbsent(
    messages.map(({ id, ...row }, at) => ({
      ...row,
      message_id: id,
      model: "a model",
      piece: 0,
      vector: Float32Array.from([at, 0.5, -1, 2]),
    })),
  )
}

export const work: Work = { signal: new AbortController().signal, onStage: () => undefined, onRows: () => undefined }

/** Stopped when so many stages have begun. */
export function stoppedAt(stages: number): Work {
  const controller = new AbortController()
  let begun = 0
  return {
    signal: controller.signal,
    onStage: () => {
      begun += 1
      if (begun >= stages) controller.abort()
    },
    onRows: () => undefined,
  }
}

export const exported = (sessions: Sessions, path: string, filter?: SessionFilter) =>
  exportArchive(sessions.store, { path, filter, isForced: false }, { ...work, clock: systemClock })

export const imported = (sessions: Sessions, path: string) => importArchive(sessions, { path, isDryRun: false }, work)

/** Everything that a store holds, as those read it who ask for sessions. */
export async function logsOf(sessions: Sessions): Promise<SessionLog[]> {
  const all = await sessions.tables.sessions.read({ columns: ["id"] })
  const logs = await Promise.all(all.map(({ id }) => sessions.log(id)))
  return logs.toSorted((one, other) => (one.session.id < other.session.id ? -1 : 1))
}

// --- Archives that were tampered with -------------------------------------------------------------------------------

export interface LooseEntry {
  name: string
  content: Uint8Array
}

export async function entriesOf(path: string): Promise<LooseEntry[]> {
  const file = await open(path, "r")
  const entries: LooseEntry[] = []
  for await (const entry of readEntries(file, (await file.stat()).size)) {
    entries.push({ name: entry.name, content: await readContent(file, entry) })
  }
  await file.close()
  return entries
}

/** The archive with other content, and a manifest that fits it: what someone would make who knows the form. */
export async function rewritten(
  path: string,
  to: string,
  change: (entries: LooseEntry[], manifest: Manifest) => void,
): Promise<string> {
  const entries = (await entriesOf(path)).slice(0, -2)
  const manifest = manifestOf(path, await entriesOf(path))
  change(entries, manifest)
  for (const listed of manifest.entries) {
    const content = entries.find(({ name }) => name === listed.name)?.content
    if (content === undefined) continue
    listed.sha256 = sha256Of(content)
    listed.bytes = content.length
  }
  const bytes = manifestBytes(manifest)
  const all = [
    ...entries,
    { name: "manifest.json", content: bytes },
    { name: "manifest.sha256", content: manifestSum(bytes) },
  ]
  return await packed(all, to)
}

export async function packed(entries: readonly LooseEntry[], to: string): Promise<string> {
  const chunks: Uint8Array[] = []
  const writer = createEntryWriter((bytes) => {
    chunks.push(bytes)
    return Promise.resolve()
  }, 1_700_000_000)
  for (const { name, content } of entries) await writer.add(name, content)
  await writer.end()
  writeFileSync(to, Buffer.concat(chunks))
  return to
}

function manifestOf(path: string, entries: readonly LooseEntry[]): Manifest {
  const found = entries.find(({ name }) => name === "manifest.json")
  if (found === undefined) throw new Error(`${path} has no manifest`)
  return JSON.parse(Buffer.from(found.content).toString("utf8"))
}

export function bytesOf(path: string): Buffer {
  return readFileSync(path)
}
