/**
 * What is about to be written elsewhere is compared with its checksums first: damage would get new ones there that say it
 * is right. Of chosen sessions only the files with rows of them are read.
 */
import { PondError } from "../../model/errors.ts"
import type { Store } from "../../substrate/table.ts"
import { stopIfAsked, type Work } from "../work.ts"
import { archivedTable } from "./archived-tables.ts"

export async function refuseDamaged(store: Store, work: Work, sessionIds?: ReadonlySet<string>): Promise<void> {
  work.onStage("verify", undefined)
  const checked = await store.check({
    isDeep: true,
    signal: work.signal,
    isAsked: (table) => archivedTable(table) !== undefined,
    ...(sessionIds === undefined ? {} : { groups: sessionIds }),
  })
  stopIfAsked(work, "Stopped before anything was written.")
  const damaged = checked.flatMap(({ table, damaged: files, sentence }) =>
    files.some(({ groups }) => isTouched(groups, sessionIds, table))
      ? [sentence ?? `The table ${table} is damaged.`]
      : [],
  )
  if (damaged.length === 0) return
  throw new PondError(
    "storage_unavailable",
    `${damaged.join(" ")} Nothing was written. Run \`pond repair\`, then try again.`,
    { details: { store: store.location.shown, failure: "damaged" } },
  )
}

/** Blobs belong to no session: one that is damaged may be anybody's. */
function isTouched(groups: readonly string[] | undefined, sessionIds: ReadonlySet<string> | undefined, table: string) {
  if (sessionIds === undefined || groups === undefined || table === "blobs") return true
  return groups.some((group) => sessionIds.has(group))
}
