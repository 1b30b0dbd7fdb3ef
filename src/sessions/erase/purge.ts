/**
 * Purges erased sessions from a store: the bytes of their messages, parts and vectors, of attachments that no other session
 * uses, and of the word index, which is made again without them.
 */
import { and, isIn } from "../../substrate/filter.ts"
import type { Store } from "../../substrate/table.ts"
import type { TombstoneState } from "../../substrate/tombstones.ts"
import { embeddingsTableNamed, LABELS, WORD_BLOCKS, WORD_LISTS, WORD_SEGMENTS } from "../tables.ts"
import type { SessionTables } from "../write/write-sessions.ts"
import { attachmentsOf, withoutUsed } from "./attachments.ts"
import type { TombstoneLog } from "./tombstone-log.ts"

export interface PurgeReport {
  /** Sessions whose rows are gone. */
  readonly sessions: readonly string[]
  readonly removed: Readonly<Record<string, number>>
}

export interface PurgeWork {
  readonly onTable: (name: string) => void
}

export async function vectorTables(store: Store) {
  return (await store.names()).flatMap((name) => {
    const definition = embeddingsTableNamed(name)
    return definition === undefined ? [] : store.table(definition)
  })
}

const HASHES_AT_ONCE = 5_000
const ALL = and()

/**
 * Attachments first: who uses them is said by the rows that go last. A purge that was cut off is noted as begun, and the next
 * one does all of it again.
 */
export async function purgeErased(
  store: Store,
  tables: SessionTables,
  { onTable }: PurgeWork,
  { current, note }: TombstoneLog,
): Promise<PurgeReport> {
  const turnTo = async (state: TombstoneState, from: readonly string[]) => {
    const rows = (await current()).filter((each) => from.includes(each.state))
    await note(rows.map(({ owner, turn, because }) => ({ owner, turn: turn + 1, state, because, marks: null })))
    return rows.map(({ owner }) => owner)
  }
  const removed: Record<string, number> = {}
  await store.withWriteLock(() => turnTo("purging", ["erased"]))
  const ids = (await current()).filter(({ state }) => state === "purging").map(({ owner }) => owner)
  if (ids.length === 0) return { sessions: [], removed }
  onTable("blobs")
  removed["blobs"] = await store.withWriteLock(() => purgeAttachments(tables, ids))
  const vectors = (await vectorTables(store)).map((table) => [table.definition.name, table] as const)
  const rows = [
    ["labels", store.table(LABELS)],
    ["parts", tables.parts],
    ["messages", tables.messages],
    ["sessions", tables.sessions],
  ] as const
  for (const [name, table] of [...vectors, ...rows]) {
    onTable(name)
    removed[name] = (await table.purge(ALL)).removed
  }
  // Its terms are made again from the messages that are left, by whoever maintains the store next.
  for (const table of [store.table(WORD_SEGMENTS), store.table(WORD_BLOCKS), store.table(WORD_LISTS)]) {
    onTable(table.definition.name)
    await table.purge(ALL)
  }
  await store.withWriteLock(() => turnTo("purged", ["purging"]))
  return { sessions: ids, removed }
}

async function purgeAttachments(tables: SessionTables, ids: readonly string[]): Promise<number> {
  const alone = [...(await withoutUsed(tables, await attachmentsOf(tables, ids), ids))]
  let removed = 0
  for (let from = 0; from < alone.length; from += HASHES_AT_ONCE)
    removed += (await tables.blobs.purge(isIn("sha256", alone.slice(from, from + HASHES_AT_ONCE)))).removed
  return removed
}
