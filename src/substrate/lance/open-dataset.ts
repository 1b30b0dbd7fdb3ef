/**
 * Opens a table and keeps its handle fresh (`lance-handle-freshness`): checked for a newer version at every read on a
 * local disk, unless the folder shows that nothing was committed (`freshness.ts`), and every few seconds on an object
 * store, where a check is a request. Nothing sooner is promised (`lance-forward-compat-no-subsecond-freshness`).
 * A local table recovers from a crash before it is first written to. Of a damaged one readers get what is whole, and
 * are told so; it takes no rows until it is repaired, because what is missing could come back and stand there twice.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import { assert } from "../../model/errors.ts"
import { tableKey } from "../bucket/commit-guards.ts"
import { damagedTable } from "../local/describe-damage.ts"
import { healTable } from "../local/heal.ts"
import { commitSignature, type LocalTable } from "../local/local-table.ts"
import { buildIndex } from "../maintain/indexes.ts"
import { indexName, type TableDefinition } from "../table-definition.ts"
import { type ErasedOwners, NOTHING_ERASED } from "../tombstones.ts"
import { bucketPart, isOfDamage } from "./bucket-part.ts"
import type { Catalog } from "./catalog.ts"
import type { Dataset, ReadInProgress } from "./dataset.ts"
import { trackFreshness } from "./freshness.ts"
import { failureOf } from "./lance-errors.ts"
import { completeRows } from "./read.ts"
import { withRetries } from "./retry.ts"
import { localPart, unknownPart, type WholePart } from "./whole-part.ts"
import { mergeAbsent } from "./write.ts"

const REMOTE_STALENESS_MS = 5000

function trackWholePart(catalog: Catalog, definition: TableDefinition, local: LocalTable | undefined): WholePart {
  if (local !== undefined) return localPart(catalog, definition, local)
  const bucket = catalog.bucket()
  return bucket === undefined ? unknownPart(catalog, definition) : bucketPart(catalog, definition, bucket)
}

export function openDataset(
  catalog: Catalog,
  definition: TableDefinition,
  erasedInStore: () => Promise<ErasedOwners> = nothingErased,
): Dataset {
  const erased = definition.erasable === true ? erasedInStore : nothingErased
  const local = catalog.local(definition.name)
  const part = trackWholePart(catalog, definition, local)
  const reading = new Set<{ table: LanceTable }>()
  const inTurn = <Result>(work: () => Promise<Result>) =>
    catalog.gateway()?.inTurn(tableKey(catalog.location, definition.name), work) ?? work()

  /** A read that meets damage continues with the intact files. */
  async function attempt<Result>(call: (attempt: number) => Promise<Result>): Promise<Result> {
    try {
      return await withRetries(catalog.retry, call)
    } catch (error) {
      if (!isOfDamage(error) || !(await part.leaveOutDamaged())) throw error
      handle.forget()
      for (const read of reading) read.table = (await handle.opened()) ?? read.table
      return await withRetries(catalog.retry, call)
    }
  }

  const heal = healOnce(catalog, definition, local)
  const handle = openHandle({ catalog, local, part })

  /** What is not there cannot be looked up, and would be stored a second time. */
  async function refuseDamaged(): Promise<void> {
    await heal()
    // Otherwise it would be opened for this alone.
    if (local === undefined) await handle.opened()
    const damage = await part.damage()
    if (damage === undefined || (definition.derived === true && (await part.beginAnew()))) return
    throw damagedTable(catalog.location.shown, definition.name, damage)
  }

  /** In a bucket the write itself may be the first to read what is damaged. */
  async function refuseIfDamaged(error: unknown): Promise<never> {
    if (isOfDamage(error)) await refuseDamaged()
    throw error
  }

  const beginRead = openReads({ handle, local, erased }, reading)

  return {
    definition,
    catalog,
    local,
    noted: local === undefined ? catalog.bucket()?.table(definition.name) : undefined,
    attempt,
    version: async () => {
      const known = handle.version()
      if (known !== undefined) return await known
      const read = await beginRead()
      if (read === undefined) return undefined
      try {
        return await (handle.version() ?? attempt(() => read.table.version()))
      } finally {
        read.end()
      }
    },
    once: (call) => withRetries(catalog.retry, call, 1),
    exclusively: async (work) => {
      await refuseDamaged()
      if (local === undefined) return await inTurn(work).catch(refuseIfDamaged)
      return await local.exclusively(() => work().finally(handle.invalidate))
    },
    newest: handle.newest,
    atOneVersion: handle.atOneVersion,
    tail: { rows: 0 },
    own: undefined,
    lookedThrough: 0,
    put: 0,
    reach: undefined,
    erased,
    separate: () => part.open("unguarded"),
    damage: part.damage,
    refuseDamaged,
    beginRead,
    writable: async () => {
      const table = (await handle.newest()) ?? (await createWhole(catalog, definition, attempt))
      assert(part.isAll(), `only a whole table is written to: ${definition.name}`)
      handle.replace(table)
      return table
    },
  }
}

type Reading = Set<{ table: LanceTable }>

interface ReadOf extends Pick<Dataset, "local" | "erased"> {
  readonly handle: Handle
}

function openReads({ handle, local, erased }: ReadOf, reading: Reading): Dataset["beginRead"] {
  const begin = (table: LanceTable, gone: ErasedOwners, leave: () => void): ReadInProgress => {
    const read = {
      table,
      erased: gone,
      end: () => {
        reading.delete(read)
        leave()
      },
    }
    reading.add(read)
    return read
  }
  return async () => {
    // In a bucket both take a request.
    const [open, gone] = await Promise.all([local === undefined ? handle.current() : handle.opened(), erased()])
    if (open === undefined) return undefined
    if (local === undefined) return begin(open, gone, () => undefined)
    await local.readers.enter()
    try {
      // Checked again only now: from here on no clean-up removes the newest version.
      return begin(handle.isNewest() ? open : ((await handle.newest()) ?? open), gone, local.readers.leave)
    } catch (error) {
      local.readers.leave()
      throw error
    }
  }
}

async function createWhole(
  catalog: Catalog,
  definition: TableDefinition,
  attempt: Dataset["attempt"],
): Promise<LanceTable> {
  const made = await catalog.create(definition)
  if (made.overwritten !== undefined) {
    for await (const rows of completeRows(definition, made.overwritten)) {
      await mergeAbsent({ definition, attempt }, made.table, rows)
    }
  }
  return made.table
}

const nothingErased = () => Promise.resolve(NOTHING_ERASED)

/** Once, and never while this handle holds the write lock: healing takes it. */
function healOnce(catalog: Catalog, definition: TableDefinition, local: LocalTable | undefined): () => Promise<void> {
  const { clock, log } = catalog.context
  let healing: Promise<void> | undefined
  return async () => {
    if (local === undefined) return
    healing ??= healTable(local, {
      log,
      clock,
      scansWhole: () => scansWhole(catalog, definition),
      rebuild: (indexes) => rebuild(catalog, definition, indexes),
    }).catch((error: unknown) => {
      healing = undefined
      throw error
    })
    await healing
  }
}

interface HandleOptions {
  readonly catalog: Catalog
  readonly local: LocalTable | undefined
  readonly part: WholePart
}

interface Handle {
  /** As it was last checked; opened where it never was. */
  opened(): Promise<LanceTable | undefined>
  /** As fresh as a read needs it. */
  current(): Promise<LanceTable | undefined>
  newest(): Promise<LanceTable | undefined>
  atOneVersion<Result>(work: () => Promise<Result>): Promise<Result>
  /** Whether nothing can have been committed since the last check. */
  isNewest(): boolean
  /** Nothing where it would have to be checked first. */
  version(): Promise<number> | undefined
  /** By one that was created since. */
  replace(table: LanceTable): void
  invalidate(): void
  /** It shows more than can be read. */
  forget(): void
}

function openHandle({ catalog, local, part }: HandleOptions): Handle {
  const { clock } = catalog.context
  const stalenessMs = local === undefined ? REMOTE_STALENESS_MS : 0
  const tracker = local && trackFreshness(() => commitSignature(local), clock)
  let table: LanceTable | undefined
  let openedAs: object | undefined
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined
  /** As of the last check. */
  let version: Promise<number> | undefined
  let isHeld = false

  async function check(): Promise<void> {
    const state = await part.state()
    const open = openedAs === state ? table : undefined
    openedAs = state
    const checked = tracker?.beginCheck()
    version = undefined
    if (open === undefined) table = await part.open()
    else if (part.isAll()) await withRetries(catalog.retry, () => open.checkoutLatest())
    checked?.()
    checkedAtMs = clock.monotonicMs()
  }

  /** Reads that arrive together share one check. */
  async function refresh(): Promise<LanceTable | undefined> {
    checking ??= check().finally(() => {
      checking = undefined
    })
    await checking
    return table
  }

  async function current(): Promise<LanceTable | undefined> {
    return clock.monotonicMs() - checkedAtMs >= stalenessMs ? await refresh() : table
  }

  const isNewest = () => checking === undefined && table !== undefined && tracker?.isFresh() === true

  return {
    opened: async () => table ?? (await current()),
    current,
    /** A check that began before the call may have missed what was committed just before it. */
    newest: async () => {
      if (isHeld) return table
      if (checking !== undefined) await checking.catch(() => undefined)
      return await refresh()
    },
    atOneVersion: async (work) => {
      if (checking !== undefined) await checking.catch(() => undefined)
      await refresh()
      isHeld = true
      try {
        return await work()
      } finally {
        isHeld = false
      }
    },
    isNewest,
    version: () => {
      const open = table
      if (open === undefined || !isNewest()) return undefined
      version ??= withRetries(catalog.retry, () => open.version()).catch((error: unknown) => {
        version = undefined
        throw error
      })
      return version
    },
    replace: (made) => {
      table = made
    },
    invalidate: () => tracker?.invalidate(),
    forget: () => {
      table = undefined
      checkedAtMs = Number.NEGATIVE_INFINITY
      tracker?.invalidate()
    },
  }
}

/** Asked only after a crash that may have cut a file, which the engine may also report as an unknown error. */
async function scansWhole(catalog: Catalog, definition: TableDefinition): Promise<boolean> {
  try {
    const table = await catalog.open(definition)
    if (table === undefined) return true
    for await (const _rows of completeRows(definition, table));
    return true
  } catch (error) {
    if (["damaged", "other"].includes(failureOf(error))) return false
    throw error
  }
}

async function rebuild(catalog: Catalog, definition: TableDefinition, names: readonly string[]): Promise<string[]> {
  const declared = definition.indexes.filter((index) => names.includes(indexName(index)))
  const table = declared.length === 0 ? undefined : await catalog.open(definition)
  if (table === undefined) return []
  for (const index of declared) await withRetries(catalog.retry, () => buildIndex(table, index))
  return declared.map(indexName)
}
