/** Reads what commits have stored back from the part of a table that can be read, for its check. */
import type { ReadBack } from "../local/check.ts"
import type { Catalog } from "./catalog.ts"
import { findChangedRows } from "./prove-rows.ts"

export function readBackFrom(catalog: Catalog, signal?: AbortSignal): ReadBack {
  return async (table, found, commits) => {
    const isWhole = found.damaged.length === 0
    const folder = isWhole ? undefined : catalog.linkReadable(table, found)
    if (!isWhole && folder === undefined) return []
    const opened = await catalog.openNamed(table.name, folder)
    try {
      return opened === undefined ? [] : await findChangedRows(opened, commits, signal)
    } finally {
      opened?.close()
    }
  }
}
