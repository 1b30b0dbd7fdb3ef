/** Concatenates, picks and slices column batches. Pure. */
import { type ColumnBatch, type ColumnValues, emptyLike } from "./column-batch.ts"

/** One batch of all rows, in their order. */
export function concatColumns(names: readonly string[], batches: readonly ColumnBatch[]): ColumnBatch {
  const [first] = batches
  if (first !== undefined && batches.length === 1) return first
  const length = batches.reduce((sum, batch) => sum + batch.length, 0)
  const columns: Record<string, ColumnValues> = {}
  for (const name of names) columns[name] = concatColumn(name, batches, length)
  return { length, columns }
}

function concatColumn(name: string, batches: readonly ColumnBatch[], length: number): ColumnValues {
  const own = batches.map(({ columns }) => columns[name] as ColumnValues)
  const items = own.reduce((sum, piece) => sum + piece.data.length, 0)
  const data = emptyLike(own[0]?.data ?? new Uint8Array(), items)
  const offsets = own[0]?.offsets === undefined ? undefined : new Int32Array(length + 1)
  const nulls = own.some((piece) => piece.nulls !== undefined) ? new Uint8Array(length) : undefined
  let used = 0
  let row = 0
  for (const [index, piece] of own.entries()) {
    const rows = batches[index]?.length ?? 0
    ;(data as Uint8Array).set(piece.data as Uint8Array, used)
    if (piece.nulls !== undefined) nulls?.set(piece.nulls, row)
    for (let at = 1; offsets !== undefined && at <= rows; at++) offsets[row + at] = used + (piece.offsets?.[at] ?? 0)
    used += piece.data.length
    row += rows
  }
  const width = own[0]?.width
  return {
    data,
    ...(offsets === undefined ? {} : { offsets }),
    ...(nulls === undefined ? {} : { nulls }),
    ...(width === undefined ? {} : { width }),
  }
}

/** The rows at those places, in that order. */
export function pickRows(batch: ColumnBatch, places: readonly number[]): ColumnBatch {
  const columns = Object.fromEntries(
    Object.entries(batch.columns).map(([name, column]) => [name, pickColumn(column, places)]),
  )
  return { length: places.length, columns }
}

function pickColumn({ data, offsets, nulls, width }: ColumnValues, places: readonly number[]): ColumnValues {
  const missing = nulls === undefined ? {} : { nulls: Uint8Array.from(places, (place) => nulls[place] ?? 0) }
  if (width !== undefined) {
    const picked = emptyLike(data, width * places.length)
    for (const [at, place] of places.entries())
      (picked as Uint8Array).set(data.subarray(place * width, (place + 1) * width) as Uint8Array, at * width)
    return { data: picked, width, ...missing }
  }
  if (offsets === undefined) {
    const picked = emptyLike(data, places.length)
    for (const [at, place] of places.entries()) picked[at] = data[place] as never
    return { data: picked, ...missing }
  }
  const bytes = data as Uint8Array
  const ends = new Int32Array(places.length + 1)
  const lengthOf = (place: number) => (offsets[place + 1] as number) - (offsets[place] as number)
  for (const [at, place] of places.entries()) ends[at + 1] = (ends[at] as number) + lengthOf(place)
  const picked = new Uint8Array(ends.at(-1) ?? 0)
  for (const [at, place] of places.entries()) picked.set(bytes.subarray(offsets[place], offsets[place + 1]), ends[at])
  return { data: picked, offsets: ends, ...missing }
}

/** The rows from one place to before another: a separate copy, unless they are all of them. */
export function sliceRows(batch: ColumnBatch, from: number, to: number): ColumnBatch {
  if (from === 0 && to === batch.length) return batch
  const columns = Object.fromEntries(
    Object.entries(batch.columns).map(([name, column]) => [name, sliceColumn(column, from, to)]),
  )
  return { length: to - from, columns }
}

function sliceColumn({ data, offsets, nulls }: ColumnValues, from: number, to: number): ColumnValues {
  const missing = nulls === undefined ? {} : { nulls: nulls.slice(from, to) }
  if (offsets === undefined) return { data: data.slice(from, to), ...missing }
  const begin = offsets[from] as number
  const own = offsets.slice(from, to + 1).map((at) => at - begin)
  return { data: data.slice(begin, offsets[to]), offsets: own, ...missing }
}
