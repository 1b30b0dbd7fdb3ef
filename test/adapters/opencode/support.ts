/** Sessions of opencode for tests: a database as the client has it, written by hand, and read as pond reads it. */
import { Database } from "bun:sqlite"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { RawRecord, SourceUnit } from "../../../src/adapters/adapter.ts"
import { opencode } from "../../../src/adapters/opencode/adapter.ts"
import { OPENCODE } from "../../../src/adapters/opencode/brands.ts"
import { createSource, type OpencodeSource } from "../../../src/adapters/opencode/source.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import { fromSource, type SourceValue } from "../../../src/adapters/source-value.ts"
import { type JsonValue, parseJson, stringifyJson } from "../../../src/model/json.ts"
import type { Issue } from "../../../src/model/report.ts"
import type { Entry, Session, SessionLog } from "../../../src/model/session.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"

export const SESSION = "ses_4f0000000ffeAAAAAAAAAAAAAA"
export const NOW = 1_770_000_000_000

export function fixture(name: string): string {
  return join(import.meta.dir, "../../../fixtures/opencode", name, "root")
}

export function tempRoot(): { readonly root: string } & Disposable {
  const root = mkdtempSync(join(tmpdir(), "pond-opencode-"))
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

/** The source at a moment. */
export function sourceAt(nowMs = NOW): OpencodeSource {
  return createSource(OPENCODE, { nowMs: () => nowMs, monotonicMs: () => 0 })
}

export interface Planned {
  readonly units: readonly SourceUnit[]
  readonly issues: readonly Issue[]
}

export async function planned(root: string, source = sourceAt()): Promise<Planned> {
  const units: SourceUnit[] = []
  const issues: Issue[] = []
  for await (const found of source.source.plan(root)) {
    if ("files" in found) units.push(found)
    else issues.push(found)
  }
  return { units, issues }
}

// --- Reading, once and again ------------------------------------------------------------------------------------------

/** A session as it is stored, and what was kept to go on from. */
export interface Stored extends SessionLog {
  readonly state: SourceValue
  readonly issues: readonly Issue[]
  readonly raws: readonly RawRecord[]
}

/** Reads a unit, or what is new in it since it was stored. */
export async function read(unit: SourceUnit, before?: Stored, source = sourceAt()): Promise<Stored> {
  const found: { session?: Session } = before === undefined ? {} : { session: before.session }
  const entries: Entry[] = [...(before?.entries ?? [])]
  const issues: Issue[] = []
  const raws: RawRecord[] = []
  const resume =
    before === undefined
      ? undefined
      : {
          session: before.session,
          nextOrdinal: entries.length,
          seen: new Set(entries.map(({ message }) => message.id)),
          state: before.state,
        }
  const sink = {
    session: (session: Session) => {
      found.session = session
    },
    entry: (entry: Entry) => void entries.push(entry),
    issue: (issue: Issue) => void issues.push(issue),
  }
  const parser = opencode.parse(unit, sink, resume)
  const since = before === undefined ? {} : { since: before.state }
  for await (const batch of resolve({ database: { schema: OPENCODE.schema, rows: source.rows } }, unit, since)) {
    for (const raw of batch.records) {
      raws.push(raw.form === "row" ? { ...raw, row: fromSource(copyOf(raw.row)) } : raw)
      parser.push(raw)
    }
    issues.push(...batch.issues)
  }
  const { state } = parser.end(true)
  if (found.session === undefined) throw new Error(`no session in ${unit.key}`)
  // As a store would give it back.
  return {
    ...(copyOf({ session: found.session, entries } as unknown as JsonValue) as unknown as SessionLog),
    state: fromSource(state),
    issues,
    raws,
  }
}

export async function readOnly(root: string, before?: Stored, source = sourceAt()): Promise<Stored> {
  const [unit] = (await planned(root, source)).units
  if (unit === undefined) throw new Error(`no unit below ${root}`)
  return read(unit, before, source)
}

function copyOf(value: JsonValue): JsonValue {
  const parsed = parseJson(stringifyJson(value))
  if (!parsed.ok) throw new Error(parsed.reason)
  return parsed.value
}

/** What a native restore would put into the database: each row by its table and id. */
export function restoredRows(log: SessionLog): Record<string, JsonValue> {
  const rows: Record<string, JsonValue> = {}
  for (const file of nativeFiles(opencode, log)) {
    if (file.form !== "database") continue
    for (const { table, row } of file.rows) rows[`${table} ${String(row["id"])}`] = row
  }
  return rows
}

export function texts(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ message, parts }) =>
    (parts as readonly { type: string; text?: string; result?: unknown }[]).flatMap((part) => {
      if (part.type === "text" || part.type === "reasoning") return [`${message.role}: ${part.text}`]
      if (part.type !== "tool_result") return []
      return [`result: ${typeof part.result === "string" ? part.result : "[image]"}`]
    }),
  )
}

// --- The client's database --------------------------------------------------------------------------------------------

export interface ClientDatabase {
  readonly database: Database
  session(fields?: Record<string, unknown>): void
  message(id: string, createdMs: number, data: object): void
  part(id: string, messageId: string, data: object, touchedMs?: number): void
  set(table: string, id: string, fields: Record<string, unknown>): void
}

export function clientDatabase(path: string): ClientDatabase {
  mkdirSync(dirname(path), { recursive: true })
  const database = new Database(path, { create: true })
  database.run("PRAGMA journal_mode = WAL")
  database.run("PRAGMA synchronous = OFF")
  database.transaction(() => {
    for (const statement of OPENCODE.schema.create) database.run(statement)
  })()
  insert("project", { id: "global", worktree: "/", time_created: 1, time_updated: 1, sandboxes: "[]" })
  function insert(table: string, row: Record<string, unknown>): void {
    const places = Object.keys(row).map(() => "?")
    const sql = `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${places.join(", ")})`
    database.query(sql).run(...(Object.values(row) as string[]))
  }
  return {
    database,
    session: (fields = {}) =>
      insert("session", {
        ...{ id: SESSION, project_id: "global", slug: "calm-otter", directory: "/work/alpha", title: "A session" },
        ...{ version: "1.18.33", time_created: NOW - 100_000, time_updated: NOW - 50_000 },
        ...fields,
      }),
    message: (id, createdMs, data) =>
      insert("message", {
        id,
        session_id: SESSION,
        time_created: createdMs,
        time_updated: createdMs,
        data: JSON.stringify(data),
      }),
    part: (id, messageId, data, touchedMs = NOW - 40_000) =>
      insert("part", {
        ...{ id, message_id: messageId, session_id: SESSION, time_created: touchedMs, time_updated: touchedMs },
        data: JSON.stringify(data),
      }),
    set(table, id, fields) {
      const sets = Object.keys(fields).map((column) => `${column} = ?`)
      database
        .query(`UPDATE ${table} SET ${sets.join(", ")} WHERE id = ?`)
        .run(...(Object.values(fields) as string[]), id)
    },
  }
}

export const user = (createdMs = NOW - 60_000) => ({ role: "user", time: { created: createdMs } })
export const answer = (parentID: string, completed: number | undefined = NOW - 40_000) => ({
  ...{ role: "assistant", parentID, modelID: "mock-model", providerID: "mock" },
  time: { created: NOW - 50_000, ...(completed === undefined ? {} : { completed }) },
})
