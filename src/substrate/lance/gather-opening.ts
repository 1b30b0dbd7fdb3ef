/** Makes the opening of a store in a bucket (`bucket/opening.ts`): reads as a process does that has read nothing yet. */
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { Gateway } from "../bucket/gateway.ts"
import type { Recording } from "../bucket/opening.ts"
import { eq } from "../filter.ts"
import { firstRowsOfFragments } from "../local/manifest-edit.ts"
import type { OpeningReads } from "../table.ts"
import type { Catalog } from "./catalog.ts"
import type { Dataset } from "./dataset.ts"
import { scanTable } from "./read.ts"
import { readNumbered } from "./row-numbers.ts"

/** `isChanged`: whether files were written anew, so that the opening of before is of little use. */
export async function gatherOpening(catalog: Catalog, tables: Asked, isChanged: boolean): Promise<void> {
  const [gateway, root] = [catalog.gateway(), catalog.bucket()?.root]
  if (gateway === undefined || root === undefined) return
  try {
    if (isChanged || (await gateway.openings.isDue(root))) await writeOpening({ catalog, gateway, root }, tables)
  } catch (error) {
    // What is stored is stored, and is read without it.
    catalog.context.log.debug(`The opening of the store was not written: ${String(error)}`)
  }
}

interface Place {
  readonly catalog: Catalog
  readonly gateway: Gateway
  readonly root: string
}

type Asked = readonly { readonly dataset: Dataset; readonly reads: OpeningReads }[]

async function writeOpening({ catalog, gateway, root }: Place, tables: Asked): Promise<void> {
  const recording = gateway.record()
  const anew = await catalog.anew()
  try {
    const opened: Opened[] = []
    for (const each of tables) {
      const table = await anew.open(each.dataset.definition)
      if (table !== undefined)
        opened.push({ ...each, table, firsts: firstRows(recording, each.dataset.definition.name) })
    }
    // What there is least of first: all of it may be more than is kept.
    for (const each of opened) await readIndexes(each)
    for (const each of opened) for (const scan of each.reads.scans) await scanTable(each.dataset, each.table, scan)
    for (const each of opened) await readFirsts(each)
  } finally {
    anew.close()
  }
  await gateway.openings.write(root, recording.objects())
}

interface Opened {
  readonly dataset: Dataset
  readonly reads: OpeningReads
  readonly table: LanceTable
  /** Of each fragment one row, by its number: to read one is to open the file and to find the places of its pages. */
  readonly firsts: readonly number[]
}

/** In the middle of those that clients make. */
const ANY_ID = "7"

async function readIndexes({ dataset, table, reads: { lookups } }: Opened): Promise<void> {
  const [row] = lookups.length === 0 ? [] : await scanTable(dataset, table, { columns: lookups, limit: 1 })
  for (const column of lookups) {
    const value = row?.[column] ?? ANY_ID
    if (typeof value === "string")
      await scanTable(dataset, table, { columns: [column], where: eq(column, value), limit: 1 })
  }
}

async function readFirsts({ table, firsts, reads: { columns } }: Opened): Promise<void> {
  if (columns.length > 0 && firsts.length > 0) await readNumbered(table, firsts, columns)
}

function firstRows(recording: Recording, name: string): readonly number[] {
  const manifest = recording.objects().find((each) => each.name.includes(`/${name}.lance/_versions/`))
  const [piece] = manifest?.pieces ?? []
  return manifest === undefined || piece?.bytes.length !== manifest.size ? [] : firstRowsOfFragments(piece.bytes)
}
