/**
 * Notices sessions that others store while an export file or a copy comes in, by the numbers of the newest rows. In a
 * bucket nobody can be kept out, and each number would be a request, so nothing is watched there.
 */
import type { Store } from "../../substrate/table.ts"
import type { SessionTables } from "./write-sessions.ts"

export interface StoredWatch {
  /** The sessions of which others have stored something since the last call of either. */
  touched(): Promise<readonly string[]>
  /** What was stored until now is our own. */
  pass(): Promise<void>
}

export async function watchStored(store: Store, tables: SessionTables): Promise<StoredWatch> {
  if (store.location.backend !== "local") return { touched: async () => [], pass: async () => undefined }
  const { sessions, messages, parts } = tables
  const watched = [
    { table: sessions, idsFrom: (from: number) => idsOf(sessions.scanByNumber({ from, columns: ["id"] })) },
    { table: messages, idsFrom: (from: number) => idsOf(messages.scanByNumber({ from, columns: ["session_id"] })) },
    { table: parts, idsFrom: (from: number) => idsOf(parts.scanByNumber({ from, columns: ["session_id"] })) },
  ]
  const reachOf = () => Promise.all(watched.map(({ table }) => table.nextRowNumber()))
  let reach = await reachOf()
  return {
    touched: async () => {
      const before = reach
      reach = await reachOf()
      const found = watched.map(({ idsFrom }, index) => {
        const from = before[index] ?? 0
        return from === reach[index] ? [] : idsFrom(from)
      })
      return [...new Set((await Promise.all(found)).flat())]
    },
    pass: async () => {
      reach = await reachOf()
    },
  }
}

async function idsOf(
  stretches: AsyncIterable<{ readonly rows: readonly { readonly id?: string; readonly session_id?: string }[] }>,
): Promise<readonly string[]> {
  const ids = new Set<string>()
  for await (const { rows } of stretches) for (const { id, session_id } of rows) ids.add(session_id ?? id ?? "")
  return [...ids]
}
