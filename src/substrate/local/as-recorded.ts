/**
 * The short answer to "is anything of this table damaged?", which every command asks of every table that it opens: no,
 * where the newest manifest is the durable one, byte for byte, and every file that it names has the length it says. An
 * assessment lists all files, looks at the end of each and parses the manifest five times: 10 of the 105 ms of processor
 * time that `pond get` took. The ends need no look here: what the durable manifest names was synced before it was noted,
 * so a crash cannot have cut it. Bytes that changed later are found when the engine reads them, and by `pond check`.
 */
import { join } from "node:path"
import { type LocalTable, manifestPath, newestVersionOf } from "./local-table.ts"
import { referencedFiles } from "./manifest-file.ts"

export async function isAsRecorded(table: LocalTable): Promise<boolean> {
  const { files, folder } = table
  const recorded = await table.recorded()
  if (recorded === undefined || (await newestVersionOf(table)) !== recorded.version) return false
  const found = await files.find(join(folder, manifestPath(recorded.version)))
  if (found === undefined || Buffer.compare(found, recorded.bytes) !== 0) return false
  const needed = referencedFiles(recorded.bytes)
  if (needed === undefined) return false
  const sizes = files.sizesAtOnce(needed.map(({ path }) => join(folder, path)))
  return needed.every(({ bytes }, at) => {
    const size = sizes[at]
    return size !== undefined && size > 0 && (bytes === undefined || size === bytes)
  })
}
