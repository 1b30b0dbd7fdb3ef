/** The order of rows of the store in memory: by columns, or by how near a vector is. */
import type { FilterValue } from "../../src/substrate/filter.ts"
import type { Order, VectorQuery } from "../../src/substrate/table.ts"
import { compareValues, type NumberedRow } from "./memory-filter.ts"

/** Rows without a value come last, whatever the direction. */
export function sortRows(rows: readonly NumberedRow[], orderBy: readonly Order[] = []): readonly NumberedRow[] {
  if (orderBy.length === 0) return rows
  return rows.toSorted((one, other) => {
    for (const { column, descending } of orderBy) {
      const order = compareNullable(one.values[column] ?? null, other.values[column] ?? null, descending === true)
      if (order !== 0) return order
    }
    return 0
  })
}

function compareNullable(one: unknown, other: unknown, isDescending: boolean): number {
  if (one === null || other === null) return one === other ? 0 : Number(one === null) - Number(other === null)
  const order = compareValues(one as FilterValue, other as FilterValue)
  return isDescending ? -order : order
}

export function nearest(rows: readonly NumberedRow[], { column, vector, distance }: VectorQuery) {
  const measure = DISTANCES[distance]
  return rows
    .filter(({ values }) => (values[column] ?? null) !== null)
    .map((row) => ({ ...row, distance: Math.fround(measure(vector, row.values[column] as Float32Array)) }))
    .toSorted((one, other) => one.distance - other.distance)
}

const dot = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)

const DISTANCES: Readonly<Record<VectorQuery["distance"], (one: Float32Array, other: Float32Array) => number>> = {
  dot: (one, other) => 1 - dot(one, other),
  l2: (one, other) => one.reduce((sum, value, at) => sum + (value - (other[at] ?? 0)) ** 2, 0),
  cosine: (one, other) => 1 - dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other)),
}
