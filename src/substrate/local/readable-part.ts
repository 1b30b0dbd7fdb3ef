/**
 * The part of a damaged table that can be read, without a change to the store: a folder in the scratch directory with
 * the edited manifest, and links to the folders of the table. The engine opens it like any table.
 */
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { scratchDirectory } from "../../platform/native/scratch.ts"
import type { Assessment } from "./assess.ts"
import { manifestPath, type StoredTable } from "./local-table.ts"
import { withFilesAt } from "./manifest-edit.ts"

const LINKED = ["data", "_indices", "_deletions"]

/**
 * The folder that holds the folder of the table; nothing where nothing of it can be read. Of a table in a bucket `uri` is
 * where it lies: its files are named in the manifest, because nothing can be linked there.
 */
export function linkReadablePart(
  { folder, name }: StoredTable,
  { base, edited, damaged }: Assessment,
  uri?: string,
): string | undefined {
  if (base === undefined || edited === undefined || damaged.some(({ path }) => path === "")) return undefined
  const content = uri === undefined ? edited.bytes : withFilesAt(edited.bytes, `${uri}/${name}.lance`)
  const parent = mkdtempSync(join(scratchDirectory(), "readable-"))
  const own = join(parent, `${name}.lance`)
  mkdirSync(join(own, "_versions"), { recursive: true })
  writeFileSync(join(own, manifestPath(base.version)), content)
  if (uri !== undefined) return parent
  for (const linked of LINKED) symlinkSync(join(folder, linked), join(own, linked))
  return parent
}
