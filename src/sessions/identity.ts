/** Which store this is and how it stands, as a sync remembers both to find out that nothing has changed since. */
import type { Store, Table } from "../substrate/table.ts"
import type { Columns } from "../substrate/table-definition.ts"
import { MESSAGES, WORD_LISTS } from "./tables.ts"
import type { WordTables } from "./words/segment/segments.ts"
import type { SessionTables } from "./write/write-sessions.ts"

export interface Identity {
  /**
   * While it stays the same, `maintain` has nothing to do that it had not before, but for what time makes due. On an object
   * store it is of the messages alone, because each table costs requests there, and nothing is stored without some.
   */
  standing(): Promise<string>
  /** Opens what tells which store this is, which every sync opens anyway. */
  identify(): Promise<void>
  /** Which store this is, as far as it was opened: another once it was emptied and filled anew. */
  storeId(): string
}

const NO_MESSAGES = "none"

export function openIdentity(store: Store, tables: SessionTables, { segments, blocks }: WordTables): Identity {
  const { messages } = tables
  return {
    standing: () => standingOf(store, [...Object.values(tables), segments, blocks, store.table(WORD_LISTS)], messages),
    identify: async () => void (await messages.version()),
    storeId: () => store.tableId(MESSAGES.name) ?? NO_MESSAGES,
  }
}

/** On an object store each is a request: what the messages say stands for all, and says nothing of a table by itself. */
const OF_ALL = "all:"

async function standingOf(store: Store, all: readonly Standing[], messages: Standing): Promise<string> {
  if (store.location.backend !== "local") return `${OF_ALL}${await standOf(messages)}`
  return (await Promise.all(all.map(standOf))).join(" ")
}

export type Standing = Pick<Table<Columns>, "lastCommit">

export async function standOf(table: Standing): Promise<string> {
  return (await table.lastCommit()) ?? "none"
}
