/**
 * The notes of a store in a bucket, for all of its tables at once: reading costs one listing of them for each process, and
 * another after a while, and no request for each read.
 */
import { join } from "node:path"
import { DAMAGE_NOTE } from "../local/assess.ts"
import { OWN_FOLDER } from "../local/local-table.ts"
import { GENERATION_NOTE } from "../local/repair.ts"
import type { Location } from "../location.ts"
import type { StoreContext } from "../store-context.ts"
import { type BucketFiles, openBucketFiles } from "./bucket-files.ts"
import { COMMITS, versionOfNote } from "./bucket-notes.ts"
import { type BucketTable, openBucketTable } from "./bucket-table.ts"
import { type MaintenanceLease, openMaintenanceLease } from "./maintenance-lease.ts"

export interface Bucket {
  readonly files: BucketFiles
  /** The prefix of the store. */
  readonly root: string
  table(name: string): BucketTable
  /** Those that lie there, and those of which only notes do. */
  tables(): Promise<readonly BucketTable[]>
  /** As of a while ago at most; `isAnew`: as of now. */
  look(isAnew?: boolean): Promise<Look>
  readonly maintenance: MaintenanceLease
}

/** What the names of the notes say. */
export interface Look {
  /** Whether a check has found damage that is not repaired. */
  readonly hasDamage: boolean
  /** Whether there was a repair. */
  readonly hasGeneration: boolean
  /** For each table the newest version whose commit was noted. */
  readonly newest: ReadonlyMap<string, bigint>
}

const LOOK_MS = 300_000
const TABLE_FOLDER = /^([a-z][a-z0-9_]{0,62})\.lance\//
const TABLE_NOTE = new RegExp(
  `^\\${OWN_FOLDER}/(?:${COMMITS}/([a-z][a-z0-9_]{0,62})/|([a-z][a-z0-9_]{0,62})\\.checksums$)`,
)

/** Nothing where no client of ours has access: see `bucket-files.ts`. */
export function openBucket(location: Location, { clock }: Pick<StoreContext, "clock">): Bucket | undefined {
  const opened = openBucketFiles(location, clock)
  if (opened === undefined) return undefined
  const { files, root } = opened
  let [looking, lookedMs]: [Promise<Look> | undefined, number] = [undefined, Number.NEGATIVE_INFINITY]
  return {
    files,
    root,
    maintenance: openMaintenanceLease(files, root, { clock, holder: crypto.randomUUID() }),
    table: (name) => openBucketTable(files, root, name),
    tables: async () => {
      const names = (await files.list(root)).map((path) => {
        const [, note, sums] = TABLE_NOTE.exec(path) ?? []
        return TABLE_FOLDER.exec(path)?.[1] ?? note ?? sums
      })
      return [...new Set(names)].flatMap((name) => (name === undefined ? [] : openBucketTable(files, root, name)))
    },
    look: (isAnew = false) => {
      if (looking === undefined || isAnew || clock.monotonicMs() - lookedMs > LOOK_MS) {
        lookedMs = clock.monotonicMs()
        looking = lookAt(files, join(root, OWN_FOLDER))
        looking.catch(() => {
          looking = undefined
        })
      }
      return looking
    },
  }
}

async function lookAt(files: BucketFiles, own: string): Promise<Look> {
  const paths = await files.list(own)
  const newest = new Map<string, bigint>()
  for (const path of paths) {
    const [folder, table = "", name = ""] = path.split("/")
    const version = folder === COMMITS ? versionOfNote(name) : undefined
    if (version !== undefined && version > (newest.get(table) ?? 0n)) newest.set(table, version)
  }
  return { hasDamage: paths.includes(DAMAGE_NOTE), hasGeneration: paths.includes(GENERATION_NOTE), newest }
}
