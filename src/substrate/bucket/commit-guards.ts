/**
 * Guards of commits: while a writer appends what it has looked up in one version of a table, only the next version is
 * committed, where it is not there yet. The engine itself repeats an append on top of whatever was committed meanwhile.
 */
import { Semaphore } from "../../platform/semaphore.ts"
import { manifestName } from "../local/manifest-file.ts"
import type { Location } from "../location.ts"

export interface CommitGuard {
  /** Whether a commit was refused because another writer was first. */
  release(): boolean
}

export interface CommitGuards {
  /** Does the work while no other of this process writes to the table through here. */
  inTurn<Result>(table: string, work: () => Promise<Result>): Promise<Result>
  /** For one whose turn it is, until it is released. */
  guard(table: string, version: bigint): CommitGuard
  /** Whether the manifest is of another version than the one that may be committed: it is refused then. */
  isOvertaken(key: string): boolean
  /** The store has refused the manifest. Whether a guard is told so. */
  noteRefused(key: string): boolean
}

export function createCommitGuards(): CommitGuards {
  const guards = new Map<string, { readonly manifest: string; isRefused: boolean }>()
  const turns = new Map<string, Semaphore>()

  function noteRefused(key: string): boolean {
    const guarded = guards.get(tableOfManifest(key))
    if (guarded !== undefined) guarded.isRefused = true
    return guarded !== undefined
  }

  return {
    inTurn: async (table, work) => {
      const turn = turns.get(table) ?? new Semaphore(1)
      turns.set(table, turn)
      return await turn.run(work)
    },
    guard: (table, version) => {
      const guarded = { manifest: manifestName(version), isRefused: false }
      guards.set(table, guarded)
      return {
        release: () => {
          guards.delete(table)
          return guarded.isRefused
        },
      }
    },
    isOvertaken: (key) => {
      const guarded = guards.get(tableOfManifest(key))
      if (guarded === undefined || key.endsWith(`/${guarded.manifest}`)) return false
      return noteRefused(key)
    },
    noteRefused,
  }
}

/** How guards call a table: `store/messages` of `store/messages.lance/_versions/…`. */
export function tableKey({ uri }: Pick<Location, "uri">, name: string): string {
  return [...uri.slice("s3://".length).split("/").slice(1), name].join("/")
}

function tableOfManifest(key: string): string {
  return key.slice(0, key.indexOf(".lance/_versions/"))
}
