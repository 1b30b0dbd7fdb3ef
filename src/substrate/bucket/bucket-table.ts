/**
 * What a table in a bucket must hold, noted beside it: each commit of rows leaves its own note, because objects can
 * only be replaced whole and writers cannot keep each other out. It has the manifest of the commit and the hash of its
 * rows, and costs one small read and one small write. After maintenance the checksums of all files are gathered in one
 * object, as on a disk, and the notes that it replaces are removed.
 */
import { join } from "node:path"
import { isProtected } from "../local/checksum-lines.ts"
import type { ChecksumLog } from "../local/checksums.ts"
import {
  manifestPath,
  OWN_FOLDER,
  type StoredTable,
  storedRows,
  versionsNewestFirst,
  type WrittenRows,
} from "../local/local-table.ts"
import type { BucketFiles } from "./bucket-files.ts"
import { type Notes, openBucketNotes } from "./bucket-notes.ts"

export interface BucketTable extends StoredTable {
  /** Notes a commit of this handle. */
  noteCommit(version: number, rows: WrittenRows): Promise<void>
  /** Notes what every file holds: to be called once the rows are proved. */
  cover(): Promise<void>
  /** Removes the notes of a table that is gone. */
  discard(): Promise<void>
}

export function openBucketTable(files: BucketFiles, root: string, name: string): BucketTable {
  const folder = join(root, `${name}.lance`)
  const notes = openBucketNotes(files, root, name)
  let known: Promise<Notes> | undefined
  const reload = () => {
    known = notes.read()
    return known
  }
  const current = () => known ?? reload()
  const manifestOf = (version: bigint) => files.read(join(folder, manifestPath(version)))

  async function cover(): Promise<void> {
    const { sums, damaged, commits } = await reload()
    // What damaged notes covered is for a repair to judge.
    if (damaged.length > 0) return
    const paths = (await files.list(folder)).filter(isProtected)
    const covered = new Map([...sums.files].filter(([path]) => paths.includes(path)))
    for (const path of paths) {
      const sum = covered.has(path) ? undefined : await files.checksum(join(folder, path))
      if (sum !== undefined) covered.set(path, sum)
    }
    const [newest] = versionsNewestFirst(paths)
    const kept = newest === undefined ? undefined : await notes.addCommit(newest, await manifestOf(newest), [])
    const replaced = commits.filter((each) => each !== kept)
    await notes.gather({ ...sums, files: covered }, replaced)
    known = undefined
  }

  const checksums: ChecksumLog = {
    read: async () => (await current()).sums,
    cover,
    prove: async (to) => {
      await notes.gather({ ...(await reload()).sums, proved: to }, [])
      known = undefined
    },
    forgetGroups: async (groups) => {
      const { sums, commits } = await reload()
      const rows = sums.rows.map((each) => ({ ...each, groups: each.groups.filter((group) => !groups.has(group)) }))
      await notes.gather({ ...sums, rows }, commits)
      known = undefined
    },
    renew: async () => {
      const { sums, commits } = await reload()
      await notes.gather({ ...sums, damagedLines: 0 }, commits)
      known = undefined
    },
  }

  return {
    isRemote: true,
    name,
    files,
    folder,
    quarantine: join(root, OWN_FOLDER, "quarantine", name),
    notePaths: notes.paths,
    checksums,
    recorded: async () => (await reload()).newest,
    durableVersion: async () => (await current()).newest?.version,
    damagedNotes: async () => (await current()).damaged,
    exclusively: (work) => work(),
    createManifest: (path, content) => files.create(path, content),
    doubt: () => undefined,
    record: cover,
    cover,
    discard: async () => {
      for (const path of await notes.paths()) await files.remove(path)
    },
    noteCommit: async (version, rows) => {
      const manifest = await manifestOf(BigInt(version))
      await notes.addCommit(BigInt(version), manifest, [storedRows(manifest, rows)])
    },
  }
}
