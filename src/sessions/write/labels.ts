/**
 * What a person says about a session: a name, a star, tags, a note. In a separate table, so that a session stays what
 * its client wrote and is restored as that. Rows are only added: of each label the last row counts.
 */
import type { Clock } from "../../platform/host/clock.ts"
import { isIn } from "../../substrate/filter.ts"
import type { Store } from "../../substrate/table.ts"
import type { RowOf } from "../../substrate/table-definition.ts"
import { LABELS } from "../tables.ts"

export const LABEL_FIELDS = ["name", "star", "tag", "note"] as const
export type LabelField = (typeof LABEL_FIELDS)[number]

export interface Label {
  readonly field: LabelField
  /** Of a star nothing. */
  readonly value: string
  readonly isSet: boolean
}

export interface SessionLabels {
  readonly name?: string
  readonly isStarred: boolean
  /** In alphabetical order. */
  readonly tags: readonly string[]
  readonly note?: string
}

export interface Labels {
  add(sessionId: string, labels: readonly Label[]): Promise<void>
  /** Of those sessions that have labels, or of all of them. */
  of(sessionIds?: readonly string[]): Promise<ReadonlyMap<string, SessionLabels>>
  /** Adds the rows of another store: of each label the one that was said last counts. */
  merge(rows: readonly LabelRow[], options: { readonly isDryRun: boolean }): Promise<LabelMerge>
}

export type LabelRow = RowOf<(typeof LABELS)["columns"]>

export interface LabelMerge {
  readonly inserted: number
  readonly present: number
  /** Labels that both stores changed, each without knowing of the other. */
  readonly conflicts: readonly LabelConflict[]
}

export interface LabelConflict {
  readonly session_id: string
  readonly field: string
  /** What was said last and counts now; nothing where that took the label away. */
  readonly kept: string | null
  readonly overruled: string | null
}

const COLUMNS = ["session_id", "id", "field", "value", "noted_at", "is_set"] as const

/** Every label that was ever said of stored sessions, or of those sessions. */
export async function readLabelRows(store: Store, sessionIds?: ReadonlySet<string>): Promise<LabelRow[]> {
  const rows = await store.table(LABELS).read({ columns: [...COLUMNS, "host"] })
  return sessionIds === undefined ? rows : rows.filter(({ session_id }) => sessionIds.has(session_id))
}

export function openLabels(store: Store, { clock, host }: { readonly clock: Clock; readonly host: string }): Labels {
  const table = store.table(LABELS)
  return {
    add: async (session_id, labels) => {
      const latest = await table.read({ columns: ["noted_at"], where: isIn("session_id", [session_id]) })
      const now = BigInt(Math.trunc(clock.nowMs())) * 1000n
      // Behind what was said before, also where a clock went back.
      let noted_at = latest.reduce((last, row) => (row.noted_at >= last ? row.noted_at + 1n : last), now)
      const rows = labels.map(({ field, value, isSet: is_set }) => {
        const said = { field, value, noted_at: noted_at++, is_set, host }
        const hash = Bun.hash.xxHash64(JSON.stringify([host, field, value])).toString(36)
        return { session_id, id: `${said.noted_at}-${hash}`, ...said }
      })
      await table.insertAbsent(rows)
    },
    of: async (sessionIds) => {
      const where = sessionIds === undefined ? {} : { where: isIn("session_id", [...sessionIds]) }
      const rows = await table.read({ columns: COLUMNS, ...where })
      const bySession = Map.groupBy(rows.toSorted(byMoment), (row) => row.session_id)
      const found = [...bySession].map(([id, own]) => [id, labelsOf(own)] as const)
      return new Map(found.filter(([, labels]) => isLabelled(labels)))
    },
    merge: async (given, { isDryRun }) => {
      if (given.length === 0) return { inserted: 0, present: 0, conflicts: [] }
      const rows = notLaterThan(BigInt(Math.trunc(clock.nowMs())) * 1000n, given)
      const stored = await readLabelRows(store, new Set(rows.map(({ session_id }) => session_id)))
      const known = new Set(stored.map(labelRowKey))
      const fresh = rows.filter((row) => !known.has(labelRowKey(row)))
      if (!isDryRun && fresh.length > 0) await table.insertAbsent(fresh)
      const conflicts = conflictsOf(stored, rows)
      return { inserted: fresh.length, present: rows.length - fresh.length, conflicts }
    },
  }
}

const DAY_MICROS = 86_400_000_000n

/** A label from the future would count before all that is said from now on: it was said now. Clocks differ by less than a day. */
function notLaterThan(now: bigint, rows: readonly LabelRow[]): LabelRow[] {
  return rows.map((row) => (row.noted_at > now + DAY_MICROS ? { ...row, noted_at: now } : row))
}

/** The same order in every store that has the rows, also of those of one moment. */
function byMoment(left: Pick<LabelRow, "noted_at" | "id">, right: Pick<LabelRow, "noted_at" | "id">): number {
  return Number(left.noted_at - right.noted_at) || (left.id < right.id ? -1 : 1)
}

function labelRowKey({ session_id, id }: LabelRow): string {
  return JSON.stringify([session_id, id])
}

/** The last row of each label; of tags, each is a separate label. */
function lastRows(rows: readonly LabelRow[]): Map<string, LabelRow> {
  const label = ({ session_id, field, value }: LabelRow) =>
    JSON.stringify([session_id, field, field === "tag" && value])
  return new Map(rows.toSorted(byMoment).map((row) => [label(row), row]))
}

/** A row that the other store has too was changed in one of them only: nobody is contradicted. */
function conflictsOf(stored: readonly LabelRow[], arriving: readonly LabelRow[]): LabelConflict[] {
  const [known, brought] = [new Set(stored.map(labelRowKey)), new Set(arriving.map(labelRowKey))]
  const here = lastRows(stored)
  return [...lastRows(arriving)].flatMap(([label, theirs]) => {
    const ours = here.get(label)
    if (ours === undefined || known.has(labelRowKey(theirs)) || brought.has(labelRowKey(ours))) return []
    if (ours.is_set === theirs.is_set && (ours.value === theirs.value || !ours.is_set)) return []
    const [overruled, kept] = byMoment(ours, theirs) > 0 ? [theirs, ours] : [ours, theirs]
    const { session_id, field } = ours
    return { session_id, field, kept: shownValue(kept), overruled: shownValue(overruled) }
  })
}

function shownValue({ value, is_set }: LabelRow): string | null {
  return is_set ? value : null
}

type SaidLabel = Pick<LabelRow, "field" | "value" | "is_set">

/** Of rows in the order in which they were noted. */
function labelsOf(rows: readonly SaidLabel[]): SessionLabels {
  const tags = new Map<string, boolean>()
  const last = new Map<string, SaidLabel>()
  for (const row of rows) {
    if (row.field === "tag") tags.set(row.value, row.is_set)
    else last.set(row.field, row)
  }
  const lastOf = (field: LabelField) => {
    const row = last.get(field)
    return row?.is_set === true ? row.value : undefined
  }
  const [name, note] = [lastOf("name"), lastOf("note")]
  return {
    ...(name === undefined ? {} : { name }),
    ...(note === undefined ? {} : { note }),
    isStarred: lastOf("star") !== undefined,
    tags: [...tags].flatMap(([tag, isSet]) => (isSet ? tag : [])).toSorted(),
  }
}

function isLabelled({ name, note, isStarred, tags }: SessionLabels): boolean {
  return name !== undefined || note !== undefined || isStarred || tags.length > 0
}
