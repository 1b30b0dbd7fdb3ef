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
import type { Gateway } from "./gateway.ts"
import { type MaintenanceLease, openMaintenanceLease } from "./maintenance-lease.ts"
import { openingKey } from "./openings.ts"

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
  /** It may hold rows that are purged. */
  removeOpening(): Promise<void>
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
export function openBucket(
  location: Location,
  { clock }: Pick<StoreContext, "clock">,
  gateway: Gateway | undefined,
): Bucket | undefined {
  const opened = openBucketFiles(location, clock)
  if (opened === undefined) return undefined
  const { files, root } = opened
  const own = join(root, OWN_FOLDER)
  /** The first may be answered by the listing that tells the engine which tables there are. */
  const notes = async (isFirst: boolean) =>
    (isFirst ? await gateway?.notes(root) : undefined) ?? (await files.list(own))
  let [looking, lookedMs]: [Promise<Look> | undefined, number] = [undefined, Number.NEGATIVE_INFINITY]
  return {
    files,
    root,
    maintenance: openMaintenanceLease(files, root, { clock, holder: crypto.randomUUID() }),
    removeOpening: async () => {
      if (gateway !== undefined) await files.remove(openingKey(root))
    },
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
        const isFirst = lookedMs === Number.NEGATIVE_INFINITY && !isAnew
        lookedMs = clock.monotonicMs()
        if (isAnew) gateway?.forgetListing()
        looking = notes(isFirst).then(lookAt)
        looking.catch(() => {
          looking = undefined
        })
      }
      return looking
    },
  }
}

function lookAt(paths: readonly string[]): Look {
  const newest = new Map<string, bigint>()
  for (const path of paths) {
    const [folder, table = "", name = ""] = path.split("/")
    const version = folder === COMMITS ? versionOfNote(name) : undefined
    if (version !== undefined && version > (newest.get(table) ?? 0n)) newest.set(table, version)
  }
  return { hasDamage: paths.includes(DAMAGE_NOTE), hasGeneration: paths.includes(GENERATION_NOTE), newest }
}
