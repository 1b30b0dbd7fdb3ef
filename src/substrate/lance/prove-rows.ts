/**
 * Reads rows back and compares them with the hash that was made of them before they were written: the one proof that what
 * lies in the files is what was given. Rows of a commit keep their numbers through every compaction, and so their hash.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { RecordBatch } from "apache-arrow"
import { contentHash, hashedColumns, type RowSpan } from "../columns/content-hash.ts"
import type { StoredRows } from "../local/checksum-lines.ts"
import { failureOf } from "./lance-errors.ts"
import { batchesFrom, batchesOfNumbers, ROW } from "./row-numbers.ts"

interface Gathered {
  readonly stored: StoredRows
  readonly spans: { readonly first: number; readonly span: RowSpan }[]
  rows: number
}

/**
 * Those of the commits whose rows are not as they were given, or cannot be read. Rows that are not there are no matter of
 * this. Memory holds the rows of one commit where they stand in order, as compactions leave them.
 */
export async function findChangedRows(
  table: LanceTable,
  commits: readonly StoredRows[],
  signal?: AbortSignal,
): Promise<readonly StoredRows[]> {
  const hashed = commits.filter(({ hash }) => hash !== undefined).toSorted((one, other) => one.from - other.from)
  const [first] = hashed
  if (first === undefined) return []
  const columns = hashedColumns((await table.schema()) as never)
  try {
    return await compareBatches(batchesFrom(table, first.from, columns), hashed, { columns, signal })
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return await compareCommits(table, hashed, { columns, signal })
  }
}

interface Comparing {
  readonly columns: readonly string[]
  readonly signal: AbortSignal | undefined
}

/** If the engine cannot read a file, each commit is read separately. */
async function compareCommits(table: LanceTable, commits: readonly StoredRows[], comparing: Comparing) {
  const changed: StoredRows[] = []
  for (const commit of commits) {
    const numbers = Array.from({ length: commit.to - commit.from }, (_, at) => commit.from + at)
    try {
      const own = await batchesOfNumbers(table, numbers, comparing.columns)
      changed.push(...(await compareBatches(own, [commit], comparing)))
    } catch (error) {
      if (!isUnreadable(error)) throw error
      changed.push(commit)
    }
  }
  return changed
}

function isUnreadable(error: unknown): boolean {
  return error instanceof Error && ["damaged", "other"].includes(failureOf(error)) && error.name !== "AbortError"
}

async function compareBatches(
  batches: AsyncIterable<RecordBatch> | Iterable<RecordBatch>,
  commits: readonly StoredRows[],
  { columns, signal }: Comparing,
): Promise<readonly StoredRows[]> {
  const waiting = commits.map((stored): Gathered => ({ stored, spans: [], rows: 0 }))
  const changed: StoredRows[] = []
  for await (const record of batches) {
    signal?.throwIfAborted()
    for (const { place, first, span } of runsOf(record, waiting)) {
      const gathered = waiting[place] as Gathered
      gathered.spans.push({ first, span })
      gathered.rows += span.to - span.from
      const isComplete = gathered.rows === gathered.stored.to - gathered.stored.from
      if (isComplete && !isAsGiven(gathered, columns)) changed.push(gathered.stored)
    }
  }
  return changed
}

function isAsGiven({ stored, spans }: Gathered, columns: readonly string[]): boolean {
  const inOrder = spans.splice(0).toSorted((one, other) => one.first - other.first)
  return (
    contentHash(
      inOrder.map(({ span }) => span),
      columns,
    ) === stored.hash
  )
}

/** Stretches of a batch whose rows are of one commit, and have numbers that follow each other. */
function* runsOf(record: RecordBatch, commits: readonly Gathered[]) {
  const ids = record.getChild(ROW)?.data[0]?.values as BigUint64Array
  for (let from = 0; from < record.numRows; ) {
    const first = Number(ids[from])
    const place = placeOf(first, commits)
    const end = commits[place]?.stored.to ?? first + 1
    let to = from + 1
    while (to < record.numRows && Number(ids[to]) === first + (to - from) && Number(ids[to]) < end) to++
    if (place >= 0) yield { place, first, span: { record, from, to } }
    from = to
  }
}

/** Of the commit that has stored that row; -1 where none is known. */
function placeOf(row: number, commits: readonly Gathered[]): number {
  let [low, high] = [0, commits.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const { from, to } = (commits[middle] as Gathered).stored
    if (row < from) high = middle - 1
    else if (row >= to) low = middle + 1
    else return middle
  }
  return -1
}
