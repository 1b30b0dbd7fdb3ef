/** Whether a store is as it was written, and how what is not is taken out of it. All of its namespaces, by session. */
import { EXIT_NOT_WHOLE, PondError } from "../../model/errors.ts"
import { visibleLine } from "../../model/visible.ts"
import type { Sessions } from "../../sessions/store.ts"
import { WORD_BLOCKS, WORD_LISTS, WORD_SEGMENTS } from "../../sessions/tables.ts"
import { eq, not } from "../../substrate/filter.ts"
import { folderOf } from "../../substrate/namespaces.ts"
import type { CheckedTable } from "../../substrate/table.ts"
import type { Pond } from "../pond.ts"

export interface DamagedFile {
  readonly file: string
  readonly found: "missing" | "changed"
  /** Null where it is not known. */
  readonly sessions: readonly string[] | null
}

export interface TableCheck {
  readonly namespace: string
  readonly table: string
  readonly rows: number
  readonly lost_rows: number
  readonly files: number
  readonly not_covered: number
  readonly bytes_read: number
  readonly damaged: readonly DamagedFile[]
}

export interface StoreCheck {
  readonly store: string
  readonly ok: boolean
  readonly is_covered: boolean
  readonly tables: readonly TableCheck[]
  readonly sessions: readonly string[]
  readonly ms: number
}

export interface CheckRequest {
  readonly isDeep: boolean
  readonly percent?: number | undefined
}

interface Hooks {
  readonly signal: AbortSignal
  readonly onTable: (name: string) => void
}

/** A share is another one each hour, so that checks on a schedule come round. */
const ROUND_MS = 3_600_000

export async function checkIntegrity(
  pond: Pond,
  { isDeep, percent = 100 }: CheckRequest,
  { signal, onTable }: Hooks,
): Promise<StoreCheck> {
  const { clock } = pond.host
  const startedMs = clock.monotonicMs()
  const options = { isDeep, share: percent / 100, round: Math.floor(clock.nowMs() / ROUND_MS), signal, onTable }
  const tables: TableCheck[] = []
  const namespaces = await pond.namespaces()
  for (const { name, store } of await storesOf(pond)) {
    try {
      tables.push(...(await store.check(options)).map((each) => tableCheck(name, each)))
      if (await namespaces.isLost(name)) tables.push(lostNamespace(name))
    } catch (error) {
      if (!signal.aborted) throw error
      throw new PondError("interrupted", "Stopped. Nothing was changed; run it again for the rest.", { cause: error })
    }
  }
  const { location } = (await pond.sessions()).store
  return {
    store: location.shown,
    ok: tables.every(({ damaged }) => damaged.length === 0),
    is_covered:
      (location.backend === "local" || tables.length > 0) && tables.every(({ not_covered: files }) => files === 0),
    tables,
    sessions: distinct(tables.flatMap(({ damaged }) => damaged.flatMap(({ sessions }) => sessions ?? []))),
    ms: Math.round(clock.monotonicMs() - startedMs),
  }
}

async function storesOf(pond: Pond): Promise<{ readonly name: string; readonly store: Sessions["store"] }[]> {
  const namespaces = await pond.namespaces()
  const found: { readonly name: string; readonly store: Sessions["store"] }[] = []
  for (const { name } of await namespaces.list()) found.push({ name, store: await namespaces.inspect(name) })
  return found
}

/** Stands for the tables of a namespace whose folder is gone. */
export const ALL_TABLES = "*"

/** A folder of tables that is gone: which sessions were in it nobody knows. */
function lostNamespace(namespace: string): TableCheck {
  const damaged = [{ file: folderOf(namespace), found: "missing" as const, sessions: null }]
  return { namespace, table: ALL_TABLES, rows: 0, lost_rows: 0, files: 0, not_covered: 0, bytes_read: 0, damaged }
}

function tableCheck(namespace: string, checked: CheckedTable): TableCheck {
  return {
    namespace,
    table: checked.table,
    rows: checked.rows,
    lost_rows: checked.lostRows,
    files: checked.files,
    not_covered: checked.uncovered,
    bytes_read: checked.bytesRead,
    damaged: checked.damaged.map(({ path, found, groups }) => ({
      file: `${checked.table}.lance${path === "" ? "" : `/${path}`}`.replace(`${checked.table}.lance/../`, ""),
      found,
      sessions: sessionsOf(checked.table, groups),
    })),
  }
}

/** The rows of these tables belong to sessions; those of others can be made again, or are shared by several. */
const OF_SESSIONS = new Set(["sessions", "messages", "parts"])

function sessionsOf(table: string, groups: readonly string[] | undefined): readonly string[] | null {
  if (groups === undefined) return null
  return OF_SESSIONS.has(table) ? groups : []
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)]
}

/** What is damaged as far as names and sizes tell, and checks have found: cheap enough for `status`. */
export async function knownDamage(
  sessions: Sessions,
): Promise<readonly { readonly table: string; readonly lost_rows: number; readonly message: string }[]> {
  const checked = await sessions.store.check({ isDeep: false })
  return checked.flatMap(({ table, lostRows, sentence }) =>
    sentence === undefined ? [] : [{ table, lost_rows: lostRows, message: sentence }],
  )
}

/** Each in words. */
export async function lostNamespaces(pond: Pond): Promise<readonly { readonly message: string }[]> {
  const namespaces = await pond.namespaces()
  const lost: { readonly message: string }[] = []
  for (const { name } of await namespaces.list())
    if (await namespaces.isLost(name))
      lost.push({ message: `The folder of the namespace ${visibleLine(name)} is missing, with all its sessions.` })
  return lost
}

/** Of the files and commits in an hour: all of them have their turn in four days. */
const HOURLY_SHARE = 1 / 100

/** Reads a share of the store, another one each hour, and says what is damaged. For syncs on a schedule, and `optimize`. */
export async function checkShare(pond: Pond, signal: AbortSignal, share = HOURLY_SHARE): Promise<void> {
  const { clock, log } = pond.host
  const { store } = await pond.sessions()
  const checked = await store.check({ isDeep: true, share, round: Math.floor(clock.nowMs() / ROUND_MS), signal })
  for (const { sentence } of checked) if (sentence !== undefined) log.warn(`${sentence} Run \`pond repair\`.`)
}

// --- Repair -----------------------------------------------------------------------------------------------------------

export interface StoreRepair {
  readonly store: string
  readonly tables: readonly {
    readonly namespace: string
    readonly table: string
    readonly lost_rows: number
    readonly sessions: readonly string[] | null
    readonly returned: readonly string[]
    readonly quarantined: readonly string[]
    readonly quarantine: string | null
  }[]
  readonly sessions: readonly string[]
  readonly lost_rows: number
}

/** The word index names messages by their row numbers, and pieces of it name each other. */
const WORDS_OF = /^(?:messages|word_[a-z]+)$/

async function dropWords(store: Sessions["store"]): Promise<void> {
  await store.table(WORD_SEGMENTS).deleteWhere(not(eq("id", "")))
  await store.table(WORD_BLOCKS).deleteWhere(not(eq("segment", "")))
  await store.table(WORD_LISTS).deleteWhere(not(eq("piece", -1)))
}

/** Tables and indexes that can be made again are made again by the next sync, or by `optimize`. */
export async function repairIntegrity(pond: Pond): Promise<StoreRepair> {
  const tables: StoreRepair["tables"][number][] = []
  const namespaces = await pond.namespaces()
  for (const { name, store } of await storesOf(pond)) {
    if (await namespaces.isLost(name)) {
      await namespaces.giveUp(name)
      await store.beginGeneration()
      const gone = { lost_rows: 0, sessions: null, returned: [], quarantined: [], quarantine: null }
      tables.push({ namespace: name, table: ALL_TABLES, ...gone })
    }
    const repaired = await store.repair()
    if (repaired.some(({ table, lostRows }) => lostRows > 0 && WORDS_OF.test(table))) await dropWords(store)
    for (const done of repaired) {
      tables.push({
        namespace: name,
        table: done.table,
        lost_rows: done.lostRows,
        sessions: sessionsOf(done.table, done.groups),
        returned: done.returned,
        quarantined: done.moved,
        quarantine: done.place ?? null,
      })
    }
  }
  return {
    store: (await pond.sessions()).store.location.shown,
    tables,
    sessions: distinct(tables.flatMap(({ sessions }) => sessions ?? [])),
    lost_rows: tables.reduce((sum, { lost_rows: rows }) => sum + rows, 0),
  }
}

/** A check that found something has done its work, and something was not whole. */
export function exitCodeOfCheck({ ok }: StoreCheck): number {
  return ok ? 0 : EXIT_NOT_WHOLE
}
