/**
 * Purge: rows leave a table for good. Deleting marks a row in a list beside its file, and older versions still read it, so
 * every file that holds such a row is written anew without it, every index is built anew, and every older version goes.
 * Rows keep their numbers. Each step is a separate commit that changes nothing for a reader, so that a purge that was cut
 * off leaves a whole table, and is done by running it again: the files of the rows are found until the rows are deleted.
 */
import { PondError } from "../../model/errors.ts"
import { and, type Filter } from "../filter.ts"
import type { Dataset } from "../lance/dataset.ts"
import { deleteByNumber, moveNeighbours, ownersAmong } from "../lance/rewrite.ts"
import type { PurgedRows } from "../table.ts"
import { rebuildIndexes, refuseUnproven, removeOlderVersions } from "./maintain.ts"

const NOTHING: PurgedRows = { removed: 0, moved: 0 }

export async function purge(dataset: Dataset, where: Filter): Promise<PurgedRows> {
  if ((await dataset.version()) === undefined) return NOTHING
  const { local, definition } = dataset
  const work = async () => {
    await refuseUnproven(dataset)
    return await dataset.exclusively(() => purgeExclusively(dataset, where))
  }
  const done = await (local === undefined ? work() : local.maintaining(work))
  if (done !== "busy") return done
  throw new PondError("conflict", `The table ${definition.name} is being optimized. Try again when that has ended.`)
}

async function purgeExclusively(dataset: Dataset, where: Filter): Promise<PurgedRows> {
  const { definition, local, noted } = dataset
  const table = await dataset.newest()
  if (table === undefined) return NOTHING
  const gone = definition.erasable === true ? and(where, (await dataset.erased()).erasedIn(definition)) : where
  // What a check says of a damaged file names the owners of its rows.
  if (definition.derived !== true)
    await (local ?? noted)?.checksums.forgetGroups(await ownersAmong(dataset, table, gone))
  const moved = await moveNeighbours(dataset, table, gone)
  const removed = await deleteByNumber(dataset, table, gone)
  await rebuildIndexes(dataset, table)
  await removeOlderVersions(dataset, table)
  return { removed, moved }
}
