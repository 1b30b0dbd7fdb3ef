/**
 * What a person says about a session: a name, a star, tags, a note. In a table of pond's own, so that a session stays what
 * its client wrote and is restored as that. Rows are only added: of each label the last row counts.
 */
import type { Clock } from "../../platform/host/clock.ts"
import { isIn } from "../../substrate/filter.ts"
import type { Store } from "../../substrate/table.ts"
import { LABELS } from "../tables.ts"

export type LabelField = "name" | "star" | "tag" | "note"

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
}

const COLUMNS = ["session_id", "field", "value", "is_set", "noted_at"] as const

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
      const bySession = Map.groupBy(
        rows.toSorted((left, right) => Number(left.noted_at - right.noted_at)),
        (row) => row.session_id,
      )
      const found = [...bySession].map(([id, own]) => [id, labelsOf(own)] as const)
      return new Map(found.filter(([, labels]) => isLabelled(labels)))
    },
  }
}

interface LabelRow {
  readonly field: string
  readonly value: string
  readonly is_set: boolean
}

/** Of rows in the order in which they were noted. */
function labelsOf(rows: readonly LabelRow[]): SessionLabels {
  const tags = new Map<string, boolean>()
  const last = new Map<string, LabelRow>()
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
