/** The notes beside a table in a bucket: the gathered checksums, and one note for each commit since. */
import { join } from "node:path"
import type { Checksums, FileChecksum, StoredRows } from "../local/checksum-lines.ts"
import { checksumLines, parseChecksums } from "../local/checksum-lines.ts"
import { manifestPath, OWN_FOLDER } from "../local/local-table.ts"
import { manifestName, manifestVersion } from "../local/manifest-file.ts"
import type { RecordedManifest } from "../local/manifest-record.ts"
import type { BucketFiles } from "./bucket-files.ts"
import { packCommitNote, readCommitNote } from "./commit-note.ts"

export interface Notes {
  readonly sums: Checksums
  /** The manifest of the newest commit that was noted. */
  readonly newest: RecordedManifest | undefined
  /** Names of the notes of commits. */
  readonly commits: readonly string[]
  /** Those that are not as they were written, below the store's own folder. */
  readonly damaged: readonly string[]
}

export interface BucketNotes {
  read(): Promise<Notes>
  /** The objects themselves. */
  paths(): Promise<readonly string[]>
  addCommit(version: bigint, manifest: Uint8Array, rows: readonly StoredRows[]): Promise<string>
  /** In place of the gathered checksums, and of those notes. */
  gather(sums: Checksums, replaced: readonly string[]): Promise<void>
}

/** A folder for each table. Its notes are called as the manifests are, without their ending. */
export const COMMITS = "commits"
const SUFFIX = ".manifest"

export function versionOfNote(name: string): bigint | undefined {
  return manifestVersion(`${name}${SUFFIX}`)
}

export function openBucketNotes(files: BucketFiles, root: string, table: string): BucketNotes {
  const own = join(root, OWN_FOLDER)
  const commits = join(own, COMMITS, table)
  const gathered = join(own, `${table}.checksums`)
  return {
    read: async () => {
      const [sums, names] = await Promise.all([files.find(gathered), files.list(commits)])
      const contents = await Promise.all(names.map((name) => files.find(join(commits, name))))
      return readNotes(table, sums, new Map(names.map((name, index) => [name, contents[index]])))
    },
    paths: async () => [gathered, ...(await files.list(commits)).map((name) => join(commits, name))],
    addCommit: async (version, manifest, rows) => {
      const name = manifestName(version).slice(0, -SUFFIX.length)
      const hash = Bun.hash.xxHash3(manifest).toString(16).padStart(16, "0")
      const sums = new Map<string, FileChecksum>([[manifestPath(version), { bytes: manifest.length, hash }]])
      const lines = checksumLines({ files: sums, rows, proved: 0 }).join("")
      await files.write(join(commits, name), packCommitNote({ manifest, lines }, version))
      return name
    },
    gather: async (sums, replaced) => {
      await files.write(gathered, checksumLines(sums).join(""))
      for (const name of replaced) await files.remove(join(commits, name))
    },
  }
}

function readNotes(
  table: string,
  gathered: Uint8Array | undefined,
  commits: ReadonlyMap<string, Uint8Array | undefined>,
): Notes {
  const before = parseChecksums(Buffer.from(gathered ?? []).toString("utf8"))
  const sums = new Map(before.files)
  const rows = [...before.rows]
  const damaged = before.damagedLines > 0 ? [`${table}.checksums`] : []
  let newest: RecordedManifest | undefined
  for (const [name, content] of commits) {
    const version = versionOfNote(name)
    if (content === undefined || version === undefined) continue
    const note = readCommitNote(content, version)
    if (note === undefined) {
      damaged.push(`${COMMITS}/${table}/${name}`)
      continue
    }
    const lines = parseChecksums(note.lines)
    for (const [path, sum] of lines.files) sums.set(path, sum)
    rows.push(...lines.rows)
    if (newest === undefined || newest.version < version) newest = { version, bytes: note.manifest }
  }
  const { proved } = before
  return {
    sums: { files: sums, rows, proved, damagedLines: damaged.length },
    newest,
    commits: [...commits.keys()],
    damaged,
  }
}
