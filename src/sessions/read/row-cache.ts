/**
 * Row cache of a server: the chosen columns of all rows of a table, in memory. A read of the engine costs milliseconds
 * before it looks at its first key, and to see that nothing was stored since costs a fifth of one. A row is never changed,
 * so that only what was stored since is read. A command caches nothing, and nor does a server where it would be too much.
 */
import type { Lifetime } from "../../platform/host/host.ts"
import { and, type Filter, stored } from "../../substrate/filter.ts"
import type { Picked, Table } from "../../substrate/table.ts"
import type { Columns, ScannedName } from "../../substrate/table-definition.ts"

export interface RowCacheOptions<C extends Columns, Name extends ScannedName<C>> {
  readonly table: Table<C>
  readonly columns: readonly Name[]
  /** Which rows; undefined for all. */
  readonly where?: Filter
  readonly keyOf: (row: Picked<C, Name>) => string
}

/** The rows by their keys, with all that was committed before the call; nothing where they are not kept. */
export type RowCache<Row> = () => Promise<ReadonlyMap<string, Row> | undefined>

const ROWS_MAX = 100_000
/** Of all texts together: some 30 MB with what holds them. */
const UNITS_MAX = 12_000_000

interface Kept<Row> {
  readonly version: number
  /** Of the tombstones: with others, other rows are readable. */
  readonly erasedVersion: number
  /** Rows from this place on were not read. */
  readonly reach: number
  readonly rows: Map<string, Row>
  /** Of all their texts. */
  readonly units: number
}

export function cacheRows<C extends Columns, Name extends ScannedName<C>>({
  lifetime,
  ...keeping
}: RowCacheOptions<C, Name> & { readonly lifetime: Lifetime }): RowCache<Picked<C, Name>> {
  type Row = Picked<C, Name>
  let kept: Kept<Row> | "too much" | undefined
  let turn: Promise<unknown> = Promise.resolve()

  async function refresh(): Promise<ReadonlyMap<string, Row> | undefined> {
    if (kept === "too much") return undefined
    const [version, { version: erasedVersion }] = await Promise.all([keeping.table.version(), keeping.table.erased()])
    if (version === undefined) return undefined
    if (kept?.erasedVersion !== erasedVersion) kept = undefined
    if (kept?.version !== version) kept = (await extend(keeping, kept, { version, erasedVersion })) ?? "too much"
    return kept === "too much" ? undefined : kept.rows
  }

  return () => {
    if (lifetime === "command") return Promise.resolve(undefined)
    // One after the other: a look that began before the call may have missed what was committed just before it.
    const answer = turn.then(refresh)
    turn = answer.catch(() => undefined)
    return answer
  }
}

/** With what was stored since; nothing where that is too much to keep. */
async function extend<C extends Columns, Name extends ScannedName<C>>(
  { table, columns, where = ALL, keyOf }: RowCacheOptions<C, Name>,
  known: Kept<Picked<C, Name>> | undefined,
  { version, erasedVersion }: Pick<Kept<unknown>, "version" | "erasedVersion">,
): Promise<Kept<Picked<C, Name>> | undefined> {
  const reach = await table.nextRowNumber()
  // Fewer rows or an older version are another store in the place of the one that was known.
  const isSame = known !== undefined && known.version < version && known.reach <= reach
  const before = isSame ? known : { reach: 0, rows: new Map<string, Picked<C, Name>>(), units: 0 }
  const since = and(where, stored(before.reach))
  if ((await table.count(since)) > ROWS_MAX) return undefined
  const { rows } = before
  let { units } = before
  for await (const batch of table.batches({ columns, where: since })) {
    for (const row of batch) {
      rows.set(keyOf(row), row)
      units += codeUnitsIn(row)
    }
    if (rows.size > ROWS_MAX || units > UNITS_MAX) return undefined
  }
  return { version, erasedVersion, reach, rows, units }
}

function codeUnitsIn(row: object): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0)
}

const ALL = and()
