/** Which values that are stored apart (attachments, and what is too large for a column) only these sessions use. */
import { and, eq, type Filter, isIn, not, or, startsWith } from "../../substrate/filter.ts"
import type { Table } from "../../substrate/table.ts"
import type { Columns } from "../../substrate/table-definition.ts"
import { BLOB_SCHEME } from "../rows/oversized.ts"
import { blobsOfPart, blobsOfRow } from "../rows/row-codecs.ts"
import type { SessionTables } from "../write/write-sessions.ts"

type Row = Readonly<Record<string, string | null>>

interface Referring {
  readonly owner: string
  readonly columns: readonly string[]
  readonly hashesOf: (row: Row) => readonly string[]
  readonly table: (tables: SessionTables) => Table<Columns>
  /** Rows that may refer to a value by something else than the beginning of a column. */
  readonly also?: Filter
}

const ofColumns = (columns: readonly string[]) => (row: Row) => blobsOfRow(columns.map((name) => row[name]))

const REFERRING: readonly Referring[] = [
  { owner: "id", columns: ["options"], hashesOf: ofColumns(["options"]), table: (all) => all.sessions as never },
  {
    owner: "session_id",
    columns: ["content", "search_text", "options"],
    hashesOf: ofColumns(["content", "search_text", "options"]),
    table: (all) => all.messages as never,
  },
  {
    owner: "session_id",
    columns: ["type", "text", "variant_data", "options"],
    hashesOf: (row) => blobsOfPart(row as never),
    table: (all) => all.parts as never,
    also: eq("type", "file"),
  },
]

const refers = ({ columns, also }: Referring): Filter =>
  or(...columns.map((name) => startsWith(name, BLOB_SCHEME)), ...(also === undefined ? [] : [also]))

/** Of erased sessions too. */
export async function attachmentsOf(tables: SessionTables, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const each of REFERRING) {
    const request = {
      from: 0,
      columns: each.columns,
      where: and(isIn(each.owner, ids), refers(each)),
      withErased: true,
    }
    for await (const { rows } of each.table(tables).scanByNumber(request))
      for (const row of rows) for (const hash of each.hashesOf(row as Row)) found.add(hash)
  }
  return found
}

/** Those of the values that no session beside these uses. */
export async function withoutUsed(
  tables: SessionTables,
  hashes: ReadonlySet<string>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const alone = new Set(hashes)
  for (const each of REFERRING) {
    if (alone.size === 0) return alone
    const where = and(not(isIn(each.owner, ids)), refers(each))
    for await (const rows of each.table(tables).batches({ columns: each.columns, where }))
      for (const row of rows) for (const hash of each.hashesOf(row as Row)) alone.delete(hash)
  }
  return alone
}
