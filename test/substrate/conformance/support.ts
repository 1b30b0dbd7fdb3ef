import type { Table } from "../../../src/substrate/table.ts"
import { defineTable, int32, int64, nullable, timestampUs, utf8 } from "../../../src/substrate/table-definition.ts"
import { type EVERY_KIND, type EveryKind, row } from "../support.ts"

export type EveryKindTable = Table<typeof EVERY_KIND.columns>

export const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)
export const sortedIds = (rows: readonly { readonly id: string }[]) => idsOf(rows).toSorted()
export const rowsNamed = (count: number, values: (index: number) => Partial<EveryKind> = () => ({})) =>
  Array.from({ length: count }, (_, index) => row(`row-${String(index).padStart(4, "0")}`, values(index)))
export const refusal = (work: Promise<unknown>) => work.catch((error: unknown) => error)

export const full = row("full", {
  text: "\u0000 'quoted' \\ back\n日本語 😀 \ud83d half \udc00 and \u{10FFFE} mark",
  small: -2147483648,
  large: -9223372036854775808n,
  ratio: 0.1 + 0.2,
  is_set: false,
  at: 1_700_000_000_123_456n,
  near: Float32Array.of(0.5, -1, 0, 2),
  payload: Uint8Array.of(0, 255, 1, 2),
})

/** No blob and no vector: a table whose rows travel as columns. */
export const LINES = defineTable({
  name: "lines",
  columns: {
    group_id: utf8(),
    number: int32(),
    text: nullable(utf8()),
    size: int64(),
    at: nullable(timestampUs()),
  },
  key: ["group_id", "number"],
  indexes: [{ kind: "btree", column: "group_id" }],
  schemaVersion: 1,
})
export const line = (number: number, text: string | null = `line ${number}`, group = "g") => ({
  group_id: group,
  number,
  text,
  size: BigInt(number),
  at: number % 2 === 0 ? null : BigInt(number) * 1000n,
})
