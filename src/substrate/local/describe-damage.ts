/** Damage in words: what is gone, and from where. */
import { PondError } from "../../model/errors.ts"
import type { Assessment } from "./assess.ts"
import { rowsOfManifest } from "./manifest-edit.ts"

/** One sentence; nothing where nothing that was acknowledged is damaged. */
export function describeDamage(table: string, { base, edited, damaged }: Assessment): string | undefined {
  const files = damaged.filter(({ found }) => found !== "unfinished")
  const [first] = files
  if (first === undefined) return undefined
  if (first.path === "") return `The table ${table} is missing, with all its rows.`
  const more = files.length === 1 ? "" : ` and ${files.length - 1} more`
  const lost = edited?.lost.reduce((sum, fragment) => sum + fragment.rows, 0) ?? 0
  const rows = base === undefined ? 0 : rowsOfManifest(base.bytes).rows
  const cost = lost === 0 ? "no row is lost" : `${lost} of ${rows} rows cannot be read`
  return `The table ${table} is damaged: ${cost} (${first.found}: ${first.path}${more}).`
}

export function damagedTable(store: string, table: string, damage: Assessment): PondError {
  const named = describeDamage(table, damage) ?? `The table ${table} is damaged.`
  return new PondError("storage_unavailable", `${named} It takes no rows until you run \`pond repair\`.`, {
    details: { store, table, failure: "damaged" },
  })
}
