/**
 * The log of tombstones, as sessions use it: what is erased by now, the next turn of each session, and the marks by which
 * copies are recognised.
 */
import { PondError } from "../../model/errors.ts"
import { isIn } from "../../substrate/filter.ts"
import type { Store, Table } from "../../substrate/table.ts"
import type { RowOf } from "../../substrate/table-definition.ts"
import { lastTurns, TOMBSTONES } from "../../substrate/tombstones.ts"
import type { IngestFacts } from "../rows/row-codecs.ts"
import type { SessionTables } from "../write/write-sessions.ts"
import { indexMarks, type Marks, readMarks } from "./marks.ts"

type TombstoneRow = RowOf<(typeof TOMBSTONES)["columns"]>
/** The turn that counts of a session. */
export type Noted = Omit<TombstoneRow, "marks">
type Turn = Pick<TombstoneRow, "owner" | "turn" | "state" | "because" | "marks">

/** A session to erase, with the one that it goes with. */
export interface Buried {
  readonly id: string
  readonly because: string | undefined
}

export interface CarriedTombstone {
  readonly id: string
  readonly because: string | null
  readonly marks: Uint8Array | null
}

export interface TombstoneLog {
  current(): Promise<readonly Noted[]>
  /** In one commit, under the write lock of the store. Refused where another machine was faster. */
  note(turns: readonly Turn[]): Promise<void>
  /** Erases those that are not yet, in one commit. */
  bury(sessions: readonly Buried[]): Promise<void>
  /** Those that are neither stored nor were ever erased: others were left by an erasure on purpose, or were lifted. */
  unknown<Asked extends { readonly id: string }>(asked: readonly Asked[]): Promise<readonly Asked[]>
  marks(): Promise<Marks>
  /** Every erased session with its marks. */
  carried(): Promise<readonly CarriedTombstone[]>
}

const NOTED = ["owner", "turn", "state", "because", "noted_at", "host"] as const
const MARKED = ["owner", "turn", "state", "because", "marks"] as const

export function openTombstoneLog(store: Store, tables: SessionTables, facts: () => IngestFacts): TombstoneLog {
  const table = store.table(TOMBSTONES)
  const current = async (): Promise<readonly Noted[]> => lastTurns(await table.read({ columns: NOTED }))

  async function note(turns: readonly Turn[]): Promise<void> {
    if (turns.length === 0) return
    const { ingestedAtMicros: noted_at, host } = facts()
    const { present } = await table.insertAbsent(turns.map((turn) => ({ ...turn, noted_at, host })))
    if (present === 0) return
    throw new PondError(
      "conflict",
      "Another process has erased sessions or brought some back. Check `pond erase --list`, and try again.",
    )
  }

  async function carried(): Promise<readonly CarriedTombstone[]> {
    const rows = await table.read({ columns: MARKED })
    const marked = new Map(rows.flatMap(({ owner, marks }) => (marks === null ? [] : [[owner, marks] as const])))
    return lastTurns(rows)
      .filter(({ state }) => state !== "lifted")
      .map(({ owner: id, because }) => ({ id, because, marks: marked.get(id) ?? null }))
  }

  return {
    current,
    note,
    carried,
    bury: async (sessions) => {
      const known = new Map((await current()).map((each) => [each.owner, each]))
      const fresh = sessions.filter(({ id }) => (known.get(id)?.state ?? "lifted") === "lifted")
      const turns = fresh.map(async ({ id, because = null }) => ({
        owner: id,
        turn: (known.get(id)?.turn ?? 0) + 1,
        state: "erased",
        because,
        marks: await readMarks(tables, id),
      }))
      await note(await Promise.all(turns))
    },
    unknown: async (asked) => {
      const byId = new Map(asked.map((each) => [each.id, each]))
      const stored = await tables.sessions.read({ columns: ["id"], where: isIn("id", [...byId.keys()]) })
      const known = await current()
      for (const id of [...stored.map((row) => row.id), ...known.map(({ owner }) => owner)]) byId.delete(id)
      return [...byId.values()]
    },
    marks: cacheMarks(table, carried),
  }
}

function cacheMarks(table: Pick<Table<(typeof TOMBSTONES)["columns"]>, "version">, carried: TombstoneLog["carried"]) {
  let known: { readonly version: number | undefined; readonly marks: Marks } | undefined
  return async () => {
    const version = await table.version()
    if (known === undefined || known.version !== version) known = { version, marks: indexMarks(await carried()) }
    return known.marks
  }
}
