/**
 * Two tables read side by side, as they lie there. A store and its copy mostly have the same rows in the same order, and
 * then their keys are compared as bytes: a tenth of what it costs to ask both for the rows of each session.
 */
import { areSameRows, type ColumnBatch, columnBytes } from "../../substrate/columns/column-batch.ts"
import type { Table } from "../../substrate/table.ts"
import type { Columns, TableDefinition } from "../../substrate/table-definition.ts"

type AnyTable = Pick<Table<Columns>, "scanByNumber">

/**
 * How many rows both have, where they have the keys of the same rows in the same order; nothing where they do not. Of
 * the first table only the rows before `to`. Tells how far it is, and about how many bytes were read since.
 */
export async function sameRows(
  { key }: TableDefinition,
  [one, other]: readonly [AnyTable, AnyTable],
  to: number | undefined,
  onRows: (rows: number, bytes: number) => void,
): Promise<number | undefined> {
  const [left, right] = [reader(one, key, to), reader(other, key)]
  let same = 0
  try {
    for (;;) {
      const [here, there] = await Promise.all([left.rest(), right.rest()])
      if (here === undefined || there === undefined) return here === there ? same : undefined
      const rows = Math.min(here.rows, there.rows)
      if (!areSameRows(here.batch, here.from, there.batch, there.from, rows)) return undefined
      left.pass(rows)
      right.pass(rows)
      same += rows
      onRows(same, here.bytes + there.bytes)
    }
  } finally {
    await Promise.all([left.end(), right.end()])
  }
}

interface Rest {
  readonly batch: ColumnBatch
  readonly from: number
  readonly rows: number
  /** Of the batch, where it has just been read. */
  readonly bytes: number
}

function reader(table: AnyTable, columns: readonly string[], to?: number) {
  const stretches = table
    .scanByNumber({ from: 0, columns, ...(to === undefined ? {} : { to }) })
    [Symbol.asyncIterator]()
  let batch: ColumnBatch = { length: 0, columns: {} }
  let from = 0
  return {
    /** What is left of the batch, or the next; nothing at the end. */
    rest: async (): Promise<Rest | undefined> => {
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
    pass: (rows: number) => {
      from += rows
    },
    end: async () => {
      await stretches.return?.()
    },
  }
}
