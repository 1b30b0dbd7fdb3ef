/**
 * What a sync remembers of each source, so that the next one reads only what changed. It is a cache: everything in it
 * can be made again from the sources and the store, so a lost or damaged file costs time and nothing else. `FORMAT.md`
 * describes its tables.
 */
import type { Database } from "bun:sqlite"
import { existsSync } from "node:fs"
import type { LogPosition } from "../../adapters/shared/log-window.ts"
import type { JsonValue } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import type { Log } from "../../platform/host/log.ts"
import { DamagedState, IN_MEMORY, openStateFile, putAside, type StateFile, translateError } from "./state-file.ts"

/** The state of a unit when it was last stored. `stamp` is its signature. */
export interface UnitMemory {
  readonly stamp: string
  /** The signature of each file, by relative path. */
  readonly files: Readonly<Record<string, string>>
  readonly positions: Readonly<Record<string, LogPosition>>
  readonly session: Session | null
  readonly parserState: JsonValue
  readonly clientVersions: readonly string[]
  readonly unknownKinds: readonly string[]
  /** One past the last message that was stored of it. The store may hold more after a crash. */
  readonly nextOrdinal: number
}

export interface Rested {
  readonly standing: string
  readonly atMs: number
}

export interface SessionPlace extends Pick<Session, "id" | "source_agent"> {
  readonly root: string
  readonly place: string
}

export interface SeenKinds {
  readonly adapter: string
  readonly root: string
  readonly clientVersions: readonly string[]
  readonly unknownKinds: readonly string[]
  readonly sessions: number
}

export interface SyncState {
  /**
   * The root fingerprint of when all units of the root were remembered as they are. It is dropped when anything else
   * is remembered of the root. A sync without changes reads nothing else.
   */
  look(adapter: string, root: string): string | undefined
  rememberRootFingerprint(adapter: string, root: string, look: string): void
  /** The signature of every unit of a root. */
  stamps(adapter: string, root: string): Map<string, string>
  stamp(adapter: string, root: string, key: string): string | undefined
  unit(adapter: string, root: string, key: string): UnitMemory | undefined
  remember(adapter: string, root: string, units: ReadonlyMap<string, UnitMemory>): void
  /** Marks units as gone. Their sessions stay stored. */
  forget(adapter: string, root: string, keys: readonly string[]): void
  /** The main file of each remembered session. */
  places(): SessionPlace[]
  /** The projects of all sessions that were ever remembered. */
  projects(): readonly string[]
  /** Client versions and unknown kinds of records, by root, with a count of sessions for each set. */
  met(): readonly SeenKinds[]
  /** When the index stage last found nothing to do, and the signature of the store at that time. */
  lastIdle(): Rested | undefined
  rest(lastIdle: Rested): void
  /** All units, for tests and repairs. */
  all(): {
    readonly adapter: string
    readonly root: string
    readonly key: string
    readonly memory: UnitMemory
    readonly isGone: boolean
  }[]
  close(): void
}

/** Another version is another file, so that an old file is ignored and never misread. */
const VERSION = 1

/**
 * Triggers drop the fingerprint of a root when one of its units changes. Older builds, which know no fingerprints, may
 * write to the same file, and one of them may watch for days.
 */
const FINGERPRINT_TRIGGERS = [
  ["INSERT", "NEW"],
  ["UPDATE", "NEW"],
  ["DELETE", "OLD"],
] as const

function dropFingerprintAfter(event: string, row: string): string {
  return `CREATE TRIGGER IF NOT EXISTS overlook_after_${event.toLowerCase()} AFTER ${event} ON units
    BEGIN DELETE FROM looks WHERE adapter = ${row}.adapter AND root = ${row}.root; END;`
}

const projectOf = (memory: string) =>
  `CASE WHEN json_valid(${memory}) THEN json_extract(${memory}, '$.session.project') END`

const KNOW_PROJECTS = `
  CREATE TABLE IF NOT EXISTS projects (path TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS know_project AFTER INSERT ON units WHEN ${projectOf("NEW.memory")} IS NOT NULL
    BEGIN INSERT OR IGNORE INTO projects VALUES (${projectOf("NEW.memory")}); END;
`
/** Of what an older build remembered they are taken once, which an empty path says. */
const SEED_PROJECTS = `
  INSERT OR IGNORE INTO projects
    SELECT DISTINCT ${projectOf("memory")} FROM units WHERE ${projectOf("memory")} IS NOT NULL UNION SELECT ''
`

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS units (
    adapter TEXT NOT NULL, root TEXT NOT NULL, key TEXT NOT NULL,
    stamp TEXT NOT NULL, is_gone INTEGER NOT NULL DEFAULT 0, memory TEXT NOT NULL,
    PRIMARY KEY (adapter, root, key)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS store (mark TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS rest (id INTEGER PRIMARY KEY CHECK (id = 1), standing TEXT NOT NULL, at_ms INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS looks (
    adapter TEXT NOT NULL, root TEXT NOT NULL, look TEXT NOT NULL, PRIMARY KEY (adapter, root)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS units_stamps ON units (adapter, root, is_gone, key, stamp);
  ${KNOW_PROJECTS}
  ${FINGERPRINT_TRIGGERS.map(([event, row]) => dropFingerprintAfter(event, row)).join("\n")}
`

/** Reads two lists of each memory and not the whole, which may be long. */
const MET = `
  SELECT adapter, root, json_extract(memory, '$.clientVersions') AS versions,
         json_extract(memory, '$.unknownKinds') AS kinds, count(*) AS sessions
  FROM units WHERE is_gone = 0 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
`

/** Every adapter stores the main file in the options of the session. */
const PLACES = `
  SELECT root, json_extract(memory, '$.session.id') AS id, json_extract(memory, '$.session.source_agent') AS source_agent,
         json_extract(memory, '$.session.options.source.file') AS place
  FROM units WHERE is_gone = 0 AND json_extract(memory, '$.session.options.source.file') IS NOT NULL
`

export interface StateRequest {
  readonly path: string
  readonly log: Log
  /**
   * Identifies the store, so that the state of a store that was deleted or replaced is not believed. Such a state is
   * deleted when the first unit is remembered. Undefined if the identity is unknown.
   */
  readonly storeMark: () => string | undefined
  /** A reader creates no file. */
  readonly isLook?: boolean
}

/**
 * Runs the work with the open state. If the work meets damage, the file is set aside and the work runs again with an
 * empty state.
 */
export async function withSyncState<Result>(
  request: StateRequest,
  work: (state: SyncState) => Promise<Result>,
): Promise<Result> {
  try {
    return await withOpenState(request, work)
  } catch (error) {
    if (!(error instanceof DamagedState)) throw error
    putAside(error, request.log)
    return await withOpenState(request, work)
  }
}

async function withOpenState<Result>(
  request: StateRequest,
  work: (state: SyncState) => Promise<Result>,
): Promise<Result> {
  const state = openSyncState(request)
  try {
    return await work(state)
  } finally {
    state.close()
  }
}

/** Every failure is a `PondError` or a `DamagedState`. */
export function openSyncState({ path: name, log, storeMark, isLook }: StateRequest): SyncState {
  const path = `${name}.v${VERSION}.sqlite`
  const { database, file } = openStateFile(isLook === true && !existsSync(path) ? IN_MEMORY : path, SCHEMA, log)
  try {
    return translateErrors(createState(database, storeMark), file)
  } catch (error) {
    database.close()
    throw translateError(error, file)
  }
}

/** Of a bucket older builds remembered at most how many repairs there were. */
const REMOTE_MARK = /^table (?!none\b)\S+ ?(.*)$/

function isSameStore(known: string | undefined, mark: string): boolean {
  return known === mark || (known !== undefined && REMOTE_MARK.exec(mark)?.[1] === known)
}

function createState(database: Database, storeMark: StateRequest["storeMark"]): SyncState {
  const mark = storeMark()
  const known = database.query("SELECT mark FROM store").get() as { mark: string } | null
  let isOther = mark !== undefined && !isSameStore(known?.mark, mark)
  const remember = database.prepare(
    "INSERT INTO units (adapter, root, key, stamp, is_gone, memory) VALUES (?, ?, ?, ?, 0, ?) " +
      "ON CONFLICT DO UPDATE SET stamp = excluded.stamp, is_gone = 0, memory = excluded.memory",
  )
  const forget = database.prepare("UPDATE units SET is_gone = 1 WHERE adapter = ? AND root = ? AND key = ?")
  return {
    look: (adapter, root) => {
      const row = database.query("SELECT look FROM looks WHERE adapter = ? AND root = ?").get(adapter, root)
      return isOther ? undefined : (row as { look: string } | null)?.look
    },
    rememberRootFingerprint: (adapter, root, look) => {
      if (!isOther) database.run("INSERT OR REPLACE INTO looks VALUES (?, ?, ?)", [adapter, root, look])
    },
    stamps: (adapter, root) => {
      if (isOther) return new Map()
      const rows = database
        .query("SELECT key, stamp FROM units WHERE adapter = ? AND root = ? AND is_gone = 0")
        .values(adapter, root) as [string, string][]
      return new Map(rows)
    },
    stamp: (...unit) => (isOther ? undefined : readColumn(database, "stamp", unit)),
    unit: (...unit) => {
      const memory = isOther ? undefined : readColumn(database, "memory", unit)
      return memory === undefined ? undefined : decodeMemory(memory)
    },
    remember: (adapter, root, units) => {
      database.transaction(() => {
        if (isOther) for (const table of ["units", "looks", "rest"]) database.run(`DELETE FROM ${table}`)
        database.run("DELETE FROM store")
        database.run("INSERT INTO store VALUES (?)", [storeMark() ?? ""])
        isOther = false
        for (const [key, memory] of units) remember.run(adapter, root, key, memory.stamp, encodeMemory(memory))
      })()
    },
    forget: (adapter, root, keys) => {
      if (keys.length === 0) return
      database.transaction(() => {
        for (const key of keys) forget.run(adapter, root, key)
      })()
    },
    places: () => (isOther ? [] : (database.query(PLACES).all() as SessionPlace[])),
    projects: () => (isOther ? [] : readProjects(database)),
    met: () => {
      if (isOther) return []
      const rows = database.query(MET).all() as {
        adapter: string
        root: string
        versions: string | null
        kinds: string | null
        sessions: number
      }[]
      return rows.map(({ adapter, root, versions, kinds, sessions }) => ({
        adapter,
        root,
        clientVersions: listOf(versions),
        unknownKinds: listOf(kinds),
        sessions,
      }))
    },
    lastIdle: () => {
      const row = database.query("SELECT standing, at_ms AS atMs FROM rest").get() as Rested | null
      return isOther || row === null ? undefined : row
    },
    rest: ({ standing, atMs }) => {
      if (!isOther) database.run("INSERT OR REPLACE INTO rest VALUES (1, ?, ?)", [standing, atMs])
    },
    all: () => {
      if (isOther) return []
      const rows = database
        .query("SELECT adapter, root, key, is_gone, memory FROM units ORDER BY adapter, root, key")
        .all()
      return (rows as { adapter: string; root: string; key: string; is_gone: number; memory: string }[]).map((row) => ({
        ...row,
        memory: decodeMemory(row.memory),
        isGone: row.is_gone === 1,
      }))
    },
    close: () => database.close(),
  }
}

function readProjects(database: Database): readonly string[] {
  const isSeeded = database.query("SELECT 1 FROM projects WHERE path = ''").get() !== null
  if (!isSeeded) database.run(SEED_PROJECTS)
  const rows = database.query("SELECT path FROM projects WHERE path <> ''").all() as { path: string }[]
  return rows.map(({ path }) => path)
}

function readColumn(
  database: Database,
  column: "stamp" | "memory",
  unit: readonly [adapter: string, root: string, key: string],
): string | undefined {
  const row = database
    .query(`SELECT ${column} FROM units WHERE adapter = ? AND root = ? AND key = ? AND is_gone = 0`)
    .values(...unit)[0]
  return row?.[0] as string | undefined
}

// --- What is remembered of a unit, as text ----------------------------------------------------------------------------

const SEAL = /,"sum":"([0-9a-f]{16})"\}$/

/** Adds a checksum: SQLite does not check its bytes, and one wrong byte in an id would continue another session. */
function encodeMemory(memory: UnitMemory): string {
  const text = JSON.stringify(memory)
  return `${text.slice(0, -1)},"sum":"${checksumOf(text)}"}`
}

/** Memories of earlier builds have no checksum. */
function decodeMemory(text: string): UnitMemory {
  const seal = SEAL.exec(text)
  const own = seal === null ? text : `${text.slice(0, seal.index)}}`
  if (seal !== null && seal[1] !== checksumOf(own)) throw new SyntaxError("not what was written")
  return JSON.parse(own) as UnitMemory
}

function checksumOf(text: string): string {
  return Bun.hash.xxHash64(text).toString(16).padStart(16, "0")
}

function listOf(text: string | null): string[] {
  const list = JSON.parse(text ?? "null") as string[] | null
  if (list === null) throw new SyntaxError("not what was written")
  return list
}

/** Wraps every call so that its failure names the file. */
function translateErrors(state: SyncState, file: StateFile): SyncState {
  const guard =
    <Asked extends unknown[], Answer>(ask: (...asked: Asked) => Answer) =>
    (...asked: Asked): Answer => {
      try {
        return ask(...asked)
      } catch (error) {
        throw translateError(error, file)
      }
    }
  return {
    look: guard(state.look),
    rememberRootFingerprint: guard(state.rememberRootFingerprint),
    stamps: guard(state.stamps),
    stamp: guard(state.stamp),
    unit: guard(state.unit),
    remember: guard(state.remember),
    forget: guard(state.forget),
    places: guard(state.places),
    projects: guard(state.projects),
    met: guard(state.met),
    lastIdle: guard(state.lastIdle),
    rest: guard(state.rest),
    all: guard(state.all),
    close: state.close,
  }
}
