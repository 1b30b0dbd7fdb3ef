/**
 * The one place that decides which namespaces a store has, and where the tables of one lie (`wire-namespace-resolution`).
 * A namespace is an opaque string: it is compared, never interpreted, and never part of a path. The personal one is the
 * store itself; others are provisioned, and their list is kept in the store.
 */
import { PondError } from "../model/errors.ts"
import type { Clock } from "../platform/host/clock.ts"
import { sha256Of } from "../platform/sha256.ts"
import { storedText } from "./columns/surrogate-escape.ts"
import { eq } from "./filter.ts"
import type { Store } from "./table.ts"
import { defineTable, timestampUs, utf8 } from "./table-definition.ts"

/** The store itself: what is meant where no namespace is named. */
export const PERSONAL_NAMESPACE = "local"

const NAMESPACES = defineTable({
  name: "namespaces",
  schemaVersion: 1,
  columns: { name: utf8(), folder: utf8(), created_at: timestampUs() },
  key: ["name"],
  indexes: [],
})

/** A folder whose name pond makes: whatever bytes the namespace has, it is safe on every disk and in every bucket. */
export function folderOf(namespace: string): string {
  return `ns-${sha256Of(storedText(namespace)).slice(0, 40)}`
}

export interface Namespace {
  readonly name: string
  readonly createdAtMs: number | undefined
}

export interface Namespaces {
  /** The store of that namespace; `namespace_unknown` where it was never provisioned, and refused where it is lost. */
  resolve(name: string | undefined): Promise<Store>
  /** The same for who looks for damage: a lost one too. */
  inspect(name: string): Promise<Store>
  /** Whether it is new. */
  create(name: string): Promise<boolean>
  list(): Promise<Namespace[]>
  /** Whether its folder is gone, with all that was in it. Not known of one that an older pond made. */
  isLost(name: string): Promise<boolean>
  /** What was in its folder is given up: it is a namespace without sessions from now on. */
  giveUp(name: string): Promise<void>
  /** Lets go of what is open of a namespace: it is opened again when it is asked for. */
  forget(name: string): void
}

/** In the folder of every namespace. */
const MARK = "namespace"

/** Beside the tables of the store itself, so that a folder that is gone is missed. */
function madeMark(folder: string): string {
  return `${folder}.made`
}

const NAME_UNITS_MAX = 1024

export function openNamespaces(root: Store, clock: Clock): Namespaces {
  const table = root.table(NAMESPACES)
  const stores = new Map<string, Store>([[PERSONAL_NAMESPACE, root]])

  async function resolve(name = PERSONAL_NAMESPACE): Promise<Store> {
    const known = stores.get(name)
    if (known !== undefined) return known
    const store = root.at(folderOf(name))
    if (!(await store.isMarked(MARK))) {
      // In a bucket the table is read in as many requests as namespaces were made since it was compacted.
      if ((await table.count(eq("name", name))) === 0) throw unknown(name)
      if (await isLost(name)) throw lost(name)
    }
    stores.set(name, store)
    return store
  }

  async function inspect(name: string): Promise<Store> {
    return (await isLost(name)) ? root.at(folderOf(name)) : await resolve(name)
  }

  async function isLost(name: string): Promise<boolean> {
    if (name === PERSONAL_NAMESPACE) return false
    const folder = folderOf(name)
    return (await root.isMarked(madeMark(folder))) && !(await root.at(folder).isMarked(MARK))
  }

  return {
    resolve,
    inspect,
    create: async (name) => {
      if (name === "" || name.length > NAME_UNITS_MAX) {
        throw new PondError("validation_failed", `The name of a namespace has 1 to ${NAME_UNITS_MAX} characters.`)
      }
      if (name === PERSONAL_NAMESPACE) return false
      const row = { name, folder: folderOf(name), created_at: BigInt(clock.nowMs()) * 1000n }
      const { inserted } = await table.insertAbsent([row])
      await root.at(row.folder).mark(MARK)
      await root.mark(madeMark(row.folder))
      if (inserted === 1) await table.maintain("due")
      return inserted === 1
    },
    list: async () => {
      const rows = await table.read({ columns: ["name", "created_at"] })
      const provisioned = rows.map((row) => ({ name: row.name, createdAtMs: Number(row.created_at / 1000n) }))
      const sorted = provisioned.toSorted((one, other) => one.createdAtMs - other.createdAtMs)
      return [{ name: PERSONAL_NAMESPACE, createdAtMs: undefined }, ...sorted]
    },
    isLost,
    giveUp: (name) => root.at(folderOf(name)).mark(MARK),
    forget: (name) => {
      if (name !== PERSONAL_NAMESPACE) stores.delete(name)
    },
  }
}

function unknown(name: string): PondError {
  return new PondError(
    "namespace_unknown",
    "This store has no such namespace. `pond namespace list` shows them, `pond namespace create` creates one.",
    { details: { namespace: name } },
  )
}

/** An empty namespace would look like one in which nothing was ever stored. */
function lost(name: string): PondError {
  return new PondError(
    "storage_unavailable",
    "The folder of this namespace is missing, with all its sessions. Restore it from a backup, or give it up with `pond repair`: the next sync then stores what the clients still have.",
    { details: { namespace: name } },
  )
}
