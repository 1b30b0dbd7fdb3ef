/**
 * Which files outside its own places pond wrote, and what they held then: it makes undoing exact where nobody changed them
 * since. A cache: without it, undoing takes out what is pond's and leaves the rest as it stands.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { isJsonObject, parseJson } from "../../model/json.ts"
import { bytesOfFile, putBack, removeFile } from "../../platform/files/replace-file.ts"
import { ensureWritable } from "../../platform/host/paths.ts"
import { sha256Of } from "../../platform/sha256.ts"
import type { Pond } from "../pond.ts"

interface Written {
  /** A hash of what the file holds since. */
  readonly holds: string
  /** Whether there was no file before. */
  readonly isMade: boolean
}

/** What pond wrote into the file, where the file still holds just that. */
export function ownWork(pond: Pond, path: string): Written | undefined {
  const written = read(pond)[path]
  const bytes = written === undefined ? undefined : bytesOfFile(path)
  return bytes !== undefined && written?.holds === sha256Of(bytes) ? written : undefined
}

export function noteWritten(pond: Pond, path: string, text: string, isMade: boolean): void {
  write(pond, { ...read(pond), [path]: { holds: sha256Of(Buffer.from(text)), isMade } })
}

/** Makes the file what it was before pond wrote it, to the byte. False where it was changed since, or the backup is gone. */
export function takeBack(pond: Pond, path: string): boolean {
  const written = ownWork(pond, path)
  const { [path]: _, ...others } = read(pond)
  write(pond, others)
  const bytes = bytesOfFile(path)
  if (written === undefined || bytes === undefined) return false
  if (!written.isMade) return putBack(path, bytes)
  removeFile(path, bytes)
  return true
}

function read({ host }: Pond): Readonly<Record<string, Written>> {
  const bytes = bytesOfFile(journalPath(host.path("state")))
  const parsed = bytes === undefined ? undefined : parseJson(new TextDecoder().decode(bytes))
  return parsed?.ok === true && isJsonObject(parsed.value) ? (parsed.value as unknown as Record<string, Written>) : {}
}

function write({ host }: Pond, journal: Readonly<Record<string, Written>>): void {
  const path = journalPath(ensureWritable(host.path("state")))
  writeFileSync(path, `${JSON.stringify(journal, null, 2)}\n`, { mode: 0o600 })
}

function journalPath(directory: string): string {
  return join(directory, "written-files.json")
}
