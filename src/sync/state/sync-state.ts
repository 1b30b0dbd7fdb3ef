/**
 * What a sync remembers of each source, so that the next one reads only what changed. It is a cache: everything in it can
 * be made again by reading the sources against the store, so a file that is gone or damaged costs time and nothing else.
 */
import type { Database } from "bun:sqlite"
import { existsSync } from "node:fs"
import type { LogPosition } from "../../adapters/shared/log-window.ts"
import type { JsonValue } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import type { Log } from "../../platform/host/log.ts"
import { DamagedState, IN_MEMORY, openStateFile, putAside, type StateFile, translateError } from "./state-file.ts"

/** The unit as it was when it was last stored whole. */
export interface UnitMemory {
  readonly stamp: string
  /** The stamp of each file, by place. */
  readonly files: Readonly<Record<string, string>>
  readonly positions: Readonly<Record<string, LogPosition>>
  readonly session: Session | null
  readonly parserState: JsonValue
  readonly clientVersions: readonly string[]
  readonly unknownKinds: readonly string[]
  /** Behind the last message that was stored of it. The store may hold more: then this was written before that. */
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
   * How the root looked when each of its units was remembered as it lay there, until something else is remembered of it. This
   * is all that a sync without changes reads.
   */
  look(adapter: string, root: string): string | undefined
  rememberRootFingerprint(adapter: string, root: string, look: string): void
  /** The stamp of every unit of a root. */
  stamps(adapter: string, root: string): Map<string, string>
  stamp(adapter: string, root: string, key: string): string | undefined
  unit(adapter: string, root: string, key: string): UnitMemory | undefined
  remember(adapter: string, root: string, units: ReadonlyMap<string, UnitMemory>): void
  /** The source is gone; its session stays. */
  forget(adapter: string, root: string, keys: readonly string[]): void
  /** Where the sessions lie that are remembered: the main file of each. */
  places(): SessionPlace[]
  /** Which versions and which unknown kinds of records were met, by root; a count of sessions for each set of them. */
  met(): readonly SeenKinds[]
  /** When the index stage last found nothing to do, and how the store stood then. */
  rested(): Rested | undefined
  rest(rested: Rested): void
  /** Everything remembered. */
  all(): {
    readonly adapter: string
    readonly root: string
    readonly key: string
    readonly memory: UnitMemory
    readonly isGone: boolean
  }[]
  close(): void
}

/** A change of what is remembered makes another file: an old one is not read wrongly, it is not read. */
const VERSION = 1

/**
 * The file itself sees to it that no look outlives what it was of: builds before there were looks write to it too, and a
 * watch of one may run beside this one for days.
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
  ${FINGERPRINT_TRIGGERS.map(([event, row]) => dropFingerprintAfter(event, row)).join("\n")}
`

/** The memory of a unit may be long, and all of it is asked: two lists of it are read, and nothing else. */
const MET = `
  SELECT adapter, root, json_extract(memory, '$.clientVersions') AS versions,
         json_extract(memory, '$.unknownKinds') AS kinds, count(*) AS sessions
  FROM units WHERE is_gone = 0 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
`

/** The adapter notes the main file with each session. */
const PLACES = `
  SELECT root, json_extract(memory, '$.session.id') AS id, json_extract(memory, '$.session.source_agent') AS source_agent,
         json_extract(memory, '$.session.options.source.file') AS place
  FROM units WHERE is_gone = 0 AND json_extract(memory, '$.session.options.source.file') IS NOT NULL
`

export interface StateRequest {
  readonly path: string
  readonly log: Log
  /**
   * Tells the store that lies there now from one that was deleted or put in its place: what is remembered of another store
   * is not believed, and goes when the first unit of this one is remembered. Nothing where that cannot be told.
   */
  readonly storeMark: () => string | undefined
  /** Who only looks begins no state where there is none. */
  readonly isLook?: boolean
}

/**
 * Does the work with what is remembered. Opening reads little of it: where the work meets damage later, the state is put
 * aside, and the work begins again with an empty one.
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

/** Every failure of it is a `PondError`, or a `DamagedState`. */
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

function createState(database: Database, storeMark: StateRequest["storeMark"]): SyncState {
  const mark = storeMark()
  const known = database.query("SELECT mark FROM store").get() as { mark: string } | null
  let isOther = mark !== undefined && known?.mark !== mark
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
    rested: () => {
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

/** SQLite checks no byte of what it holds, and one in a name or an id would have another session go on. */
function encodeMemory(memory: UnitMemory): string {
  const text = JSON.stringify(memory)
  return `${text.slice(0, -1)},"sum":"${checksumOf(text)}"}`
}

/** Those of earlier builds have no seal. */
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

/** Every call says what went wrong with which file. */
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
    met: guard(state.met),
    rested: guard(state.rested),
    rest: guard(state.rest),
    all: guard(state.all),
    close: state.close,
  }
}
