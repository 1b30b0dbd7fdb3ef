/**
 * The part of a damaged table that can be read, without a change to the store: a folder in the scratch directory with
 * the edited manifest, and links to the folders of the table. The engine opens it like any table.
 */
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { scratchDirectory } from "../../platform/native/scratch.ts"
import type { Assessment } from "./assess.ts"
import { type LocalTable, manifestPath } from "./local-table.ts"

const LINKED = ["data", "_indices", "_deletions"]

/** The folder that holds the folder of the table; nothing where nothing of it can be read. */
export function linkReadablePart(
  { folder, name }: LocalTable,
  { base, edited, damaged }: Assessment,
): string | undefined {
  if (base === undefined || edited === undefined || damaged.some(({ path }) => path === "")) return undefined
  const parent = mkdtempSync(join(scratchDirectory(), "readable-"))
  const own = join(parent, `${name}.lance`)
  mkdirSync(join(own, "_versions"), { recursive: true })
  writeFileSync(join(own, manifestPath(base.version)), edited.bytes)
  for (const linked of LINKED) symlinkSync(join(folder, linked), join(own, linked))
  return parent
}
