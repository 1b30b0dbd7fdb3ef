/**
 * Which rows of a store go: all of them, or those of chosen sessions with their relatives (`adapter-lineage-complete-restore`):
 * the agents they started, their forks, and the sessions they continue. All tables are read as of one moment.
 */
import { blobsOfPart, blobsOfRow } from "../../sessions/rows/row-codecs.ts"
import type { MessageRow, PartRow, SessionRow } from "../../sessions/tables.ts"
import { textColumn } from "../../substrate/columns/batch-cells.ts"
import { batchOfRows, type RowBatch, rowsOfBatch } from "../../substrate/columns/row-batch.ts"
import { isIn, range } from "../../substrate/filter.ts"
import type { Snapshot, Store } from "../../substrate/table.ts"
import type { AnyRow, Columns } from "../../substrate/table-definition.ts"
import { type ArchivedTable, ownerColumn, tablesOf } from "./archived-tables.ts"

export interface SessionFilter {
  readonly ids?: readonly string[]
  /** A substring of the project's path, ignoring case. */
  readonly project?: string
  /** A client with its agents, or one kind of agent: `claude-code`, `claude-code/explore`. */
  readonly agent?: string
  /** Sessions with a message in this range. */
  readonly fromMicros?: bigint
  readonly toMicros?: bigint
}

/** Exactly these, without their relatives; and these values, whoever uses them. */
export interface ChosenRows {
  readonly sessions: ReadonlySet<string>
  readonly blobs: ReadonlySet<string>
}

export interface Selection {
  readonly isWhole: boolean
  readonly sessionIds: ReadonlySet<string>
  /** In reading order. Each is read once, to its end, before the next. */
  readonly tables: readonly SelectedTable[]
  end(): void
}

export interface SelectedTable {
  readonly table: ArchivedTable
  /** Known for a whole table; of chosen sessions only reading tells. */
  readonly rows: number | undefined
  batches(): AsyncIterable<RowBatch>
}

interface Opened {
  readonly table: ArchivedTable
  readonly snapshot: Snapshot<Columns>
}

const SESSIONS_AT_ONCE = 500
const BLOBS_AT_ONCE = 500

export async function selectFrom(store: Store, chosen?: SessionFilter | ChosenRows): Promise<Selection> {
  const opened: Opened[] = []
  const end = () => {
    for (const { snapshot } of opened.splice(0)) snapshot.end()
  }
  try {
    for (let isOneMoment = false; !isOneMoment; ) {
      end()
      const { version } = await store.erased()
      for (const table of await tablesOf(store)) {
        const snapshot = await store.table(table.definition).snapshot()
        if (snapshot !== undefined) opened.push({ table, snapshot: snapshot as Snapshot<Columns> })
      }
      // What is erased in between would be half there.
      isOneMoment = (await store.erased()).version === version
    }
    const isExact = chosen !== undefined && "sessions" in chosen
    const sessionIds = isExact ? await storedAmong(opened, chosen.sessions) : await chooseSessions(opened, chosen)
    const references = new Set<string>(isExact ? chosen.blobs : [])
    const isWhole = chosen === undefined
    const tables: SelectedTable[] = []
    for (const each of opened) {
      tables.push({
        table: each.table,
        rows: isWhole ? await each.snapshot.count() : undefined,
        batches: () => (isWhole ? wholeBatches(each, sessionIds) : chosenBatches(each, sessionIds, references)),
      })
    }
    return { isWhole, sessionIds, tables, end }
  } catch (error) {
    end()
    throw error
  }
}

// --- Which sessions --------------------------------------------------------------------------------------------------

type Line = Pick<SessionRow, "id" | "parent_session_id" | "source_agent" | "project">

async function chooseSessions(opened: readonly Opened[], filter: SessionFilter | undefined): Promise<Set<string>> {
  const lines: Line[] = []
  const sessions = opened.find(({ table }) => table.role === "sessions")
  if (sessions === undefined) return new Set()
  const columns = ["id", "parent_session_id", "source_agent", "project"]
  for await (const rows of sessions.snapshot.rows(columns)) lines.push(...(rows as unknown as Line[]))
  if (filter === undefined) return new Set(lines.map(({ id }) => id))
  const dated = await sessionsInRange(opened, filter)
  const ids = filter.ids === undefined ? undefined : new Set(filter.ids)
  const project = filter.project?.toLowerCase()
  const chosen = lines.filter(
    (line) =>
      ids?.has(line.id) !== false &&
      dated?.has(line.id) !== false &&
      (project === undefined || line.project.toLowerCase().includes(project)) &&
      (filter.agent === undefined || `${line.source_agent}/`.startsWith(`${filter.agent}/`)),
  )
  return addRelatives(chosen, lines)
}

/** Those that are stored: a sync that is under way, or was killed, leaves rows of others. */
async function storedAmong(opened: readonly Opened[], ids: ReadonlySet<string>): Promise<Set<string>> {
  const found = new Set<string>()
  const sessions = opened.find(({ table }) => table.role === "sessions")
  const wanted = [...ids]
  for (let from = 0; from < wanted.length; from += SESSIONS_AT_ONCE) {
    const some = isIn("id", wanted.slice(from, from + SESSIONS_AT_ONCE))
    for await (const rows of sessions?.snapshot.rows(["id"], some) ?? [])
      for (const row of rows) found.add(String(row["id"]))
  }
  return found
}

async function sessionsInRange(
  opened: readonly Opened[],
  { fromMicros, toMicros }: SessionFilter,
): Promise<Set<string> | undefined> {
  if (fromMicros === undefined && toMicros === undefined) return undefined
  const found = new Set<string>()
  const messages = opened.find(({ table }) => table.role === "messages")
  const bounds = {
    ...(fromMicros === undefined ? {} : { from: fromMicros }),
    ...(toMicros === undefined ? {} : { to: toMicros }),
  }
  const batches = messages?.snapshot.rows(["session_id"], range("timestamp", bounds)) ?? []
  for await (const rows of batches) for (const row of rows) found.add(String(row["session_id"]))
  return found
}

function addRelatives(chosen: readonly Line[], lines: readonly Line[]): Set<string> {
  const byId = new Map(lines.map((line) => [line.id, line]))
  const children = Map.groupBy(lines, (line) => line.parent_session_id ?? "")
  const found = new Set<string>()
  const visit = (waiting: Line[], next: (line: Line) => readonly Line[]) => {
    const met = new Set<string>()
    for (let line = waiting.pop(); line !== undefined; line = waiting.pop()) {
      if (met.has(line.id)) continue
      met.add(line.id)
      found.add(line.id)
      waiting.push(...next(line))
    }
  }
  visit([...chosen], (line) => children.get(line.id) ?? [])
  visit([...chosen], (line) => {
    const parent = byId.get(line.parent_session_id ?? "")
    return parent === undefined ? [] : [parent]
  })
  return found
}

// --- Their rows ------------------------------------------------------------------------------------------------------

/** A sync that was killed leaves rows of sessions that are not stored yet. They are left out: no file holds half a session. */
async function* wholeBatches({ table, snapshot }: Opened, ids: ReadonlySet<string>): AsyncGenerator<RowBatch> {
  for await (const batch of snapshot.batches()) {
    const kept = table.role === "sessions" || table.role === "blobs" ? batch : ofSessions(batch, ids)
    if (kept !== undefined) yield kept
  }
}

function ofSessions(batch: RowBatch, ids: ReadonlySet<string>): RowBatch | undefined {
  const owner = textColumn(batch, "session_id")
  const isOwned = Array.from({ length: batch.length }, (_, row) => ids.has(owner.at(row) ?? ""))
  if (!isOwned.includes(false)) return batch
  const rows = rowsOfBatch(batch).filter((_, index) => isOwned[index])
  return rows.length === 0 ? undefined : batchOfRows(batch.definition, rows)
}

async function* chosenBatches(
  { table, snapshot }: Opened,
  ids: ReadonlySet<string>,
  references: Set<string>,
): AsyncGenerator<RowBatch> {
  const isBlobs = table.role === "blobs"
  const wanted = [...(isBlobs ? references : ids)]
  const step = isBlobs ? BLOBS_AT_ONCE : SESSIONS_AT_ONCE
  for (let from = 0; from < wanted.length; from += step) {
    for await (const batch of snapshot.batches(isIn(ownerColumn(table), wanted.slice(from, from + step)))) {
      for (const reference of referencesOf(table, batch)) references.add(reference)
      yield batch
    }
  }
}

function referencesOf(table: ArchivedTable, batch: RowBatch): string[] {
  return rowsOfBatch(batch).flatMap((row) => referencesOfRow(table, row))
}

/** The hashes of the values of a row that are stored apart. */
export function referencesOfRow({ role }: Pick<ArchivedTable, "role">, row: AnyRow): string[] {
  if (role === "sessions") return blobsOfRow([(row as SessionRow).options])
  if (role === "parts") return blobsOfPart(row as PartRow)
  if (role !== "messages") return []
  const { content, search_text, options } = row as MessageRow
  return blobsOfRow([content, search_text, options])
}
