/** What every file of this folder has to know of Continue's documents. */
import { keyedList } from "../shared/keyed-list.ts"

export const BRAND = { id: "continue" }

/** The list of all sessions. A session that is not in it is resumed, and not listed. */
export const INDEX = "sessions.json"
/** What tells its entries apart. */
export const INDEX_KEY = "sessionId"

/** Messages have no ids: two prompts that say the same are two. */
export const history = keyedList({ key: "history", areRepeatsKept: true })

export function isIndex(relativePath: string): boolean {
  return relativePath === INDEX || relativePath.endsWith(`/${INDEX}`)
}
