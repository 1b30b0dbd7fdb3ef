/**
 * Reads two tables side by side. A store and its copy mostly have the same rows in the same order; then their columns are
 * compared as bytes, at a tenth of the cost of asking both for the rows of each session.
 */
import { areSameRows, type ColumnBatch, columnBytes } from "../../substrate/columns/column-batch.ts"
import type { Table } from "../../substrate/table.ts"
import type { Columns } from "../../substrate/table-definition.ts"

type AnyTable = Pick<Table<Columns>, "scanByNumber">

/**
 * The number of rows, where both tables have the same rows in the same order; undefined where they do not. Of the first
 * table only rows before `to` count. `onRows` gets the rows compared so far, and about how many bytes were read since.
 */
export async function countSameRows(
  columns: readonly string[],
  [one, other]: readonly [AnyTable, AnyTable],
  to: number | undefined,
  onRows: (rows: number, bytes: number) => void,
): Promise<number | undefined> {
  const [left, right] = [reader(one, columns, to), reader(other, columns)]
  let same = 0
  try {
    for (;;) {
      const [here, there] = await Promise.all([left.remaining(), right.remaining()])
      if (here === undefined || there === undefined) return here === there ? same : undefined
      const rows = Math.min(here.rows, there.rows)
      if (!areSameRows(here.batch, here.from, there.batch, there.from, rows)) return undefined
      left.advance(rows)
      right.advance(rows)
      same += rows
      onRows(same, here.bytes + there.bytes)
    }
  } finally {
    await Promise.all([left.close(), right.close()])
  }
}

interface RemainingRows {
  readonly batch: ColumnBatch
  readonly from: number
  readonly rows: number
  /** Of the batch, if it was just read; otherwise 0. */
  readonly bytes: number
}

function reader(table: AnyTable, columns: readonly string[], to?: number) {
  const stretches = table
    .scanByNumber({ from: 0, columns, ...(to === undefined ? {} : { to }) })
    [Symbol.asyncIterator]()
  let batch: ColumnBatch = { length: 0, columns: {} }
  let from = 0
  return {
    /** What is left of the batch, or the next batch; undefined at the end. */
    remaining: async (): Promise<RemainingRows | undefined> => {
      let bytes = 0
      while (from === batch.length) {
        const next = await stretches.next()
        if (next.done === true) return undefined
        batch = next.value.columns()
        bytes += columnBytes(batch)
        from = 0
      }
      return { batch, from, rows: batch.length - from, bytes }
    },
    advance: (rows: number) => {
      from += rows
    },
    close: async () => {
      await stretches.return?.()
    },
  }
}
