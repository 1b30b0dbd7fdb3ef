/**
 * Opens a table, and looks at it again when a read needs it fresher (`lance-handle-freshness`): at every read on a local
 * disk, unless the disk says that nothing has come (`freshness.ts`); after a few seconds on an object store, where it
 * costs a request. Nothing sooner is promised
 * (`lance-forward-compat-no-subsecond-freshness`).
 * A local table is healed before it is first opened.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import { healTable } from "../local/heal.ts"
import { type LocalTable, stampOf } from "../local/local-table.ts"
import { buildIndex } from "../maintain/indexes.ts"
import { indexName, type TableDefinition } from "../table-definition.ts"
import type { Catalog } from "./catalog.ts"
import type { Dataset, ReadInProgress } from "./dataset.ts"
import { openStandstill } from "./freshness.ts"
import { failureOf } from "./lance-errors.ts"
import { completeRows } from "./read.ts"
import { retried } from "./retry.ts"
import { mergeAbsent } from "./write.ts"

const REMOTE_STALENESS_MS = 5000

export function openDataset(catalog: Catalog, definition: TableDefinition): Dataset {
  const { clock, log } = catalog.context
  const local = catalog.local(definition.name)
  const attempt = <Result>(call: (attempt: number) => Promise<Result>) => retried(catalog.retry, call)

  let healing: Promise<void> | undefined

  /** Once, and never inside a turn of our own: healing takes one itself. */
  async function healed(): Promise<void> {
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

  const handle = openHandle({ catalog, definition, local, healed })

  async function created(): Promise<LanceTable> {
    const made = await catalog.create(definition)
    if (made.overwritten !== undefined) {
      for await (const rows of completeRows(definition, made.overwritten)) {
        await mergeAbsent({ definition, attempt }, made.table, rows)
      }
    }
    return made.table
  }

  async function beginRead(): Promise<ReadInProgress | undefined> {
    const open = await (local === undefined ? handle.current() : handle.any())
    if (open === undefined || local === undefined) return open && { table: open, end: () => undefined }
    await local.readers.enter()
    try {
      // Looked at from here on: only now is the newest version kept.
      const kept = handle.isNewest() ? open : ((await handle.newest()) ?? open)
      return { table: kept, end: local.readers.leave }
    } catch (error) {
      local.readers.leave()
      throw error
    }
  }

  return {
    definition,
    catalog,
    local,
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
    once: (call) => retried(catalog.retry, call, 1),
    exclusively: async (work) => {
      await healed()
      if (local === undefined) return await work()
      return await local.exclusively(() => work().finally(handle.wrote))
    },
    newest: handle.newest,
    tail: { rows: 0 },
    own: undefined,
    lookedThrough: 0,
    put: 0,
    reach: undefined,
    separate: async () => {
      await healed()
      return await catalog.open(definition)
    },
    beginRead,
    writable: async () => {
      const table = (await handle.newest()) ?? (await created())
      handle.put(table)
      return table
    },
  }
}

interface Handled {
  readonly catalog: Catalog
  readonly definition: TableDefinition
  readonly local: LocalTable | undefined
  readonly healed: () => Promise<void>
}

interface Handle {
  /** As it is, looked at where it never was. */
  any(): Promise<LanceTable | undefined>
  /** As fresh as a read needs it. */
  current(): Promise<LanceTable | undefined>
  newest(): Promise<LanceTable | undefined>
  /** Whether nothing can have come since the last look. */
  isNewest(): boolean
  /** Nothing where it would have to be looked at first. */
  version(): Promise<number> | undefined
  /** One that was made since. */
  put(table: LanceTable): void
  wrote(): void
}

function openHandle({ catalog, definition, local, healed }: Handled): Handle {
  const { clock } = catalog.context
  const stalenessMs = local === undefined ? REMOTE_STALENESS_MS : 0
  const standstill = local && openStandstill(() => stampOf(local), clock)
  let table: LanceTable | undefined
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined
  /** As of the last look. */
  let version: Promise<number> | undefined

  async function check(): Promise<void> {
    const open = table
    await healed()
    const looked = standstill?.looking()
    version = undefined
    if (open === undefined) table = await catalog.open(definition)
    else await retried(catalog.retry, () => open.checkoutLatest())
    looked?.()
    checkedAtMs = clock.monotonicMs()
  }

  /** Reads that arrive together share one look. */
  async function refreshed(): Promise<LanceTable | undefined> {
    checking ??= check().finally(() => {
      checking = undefined
    })
    await checking
    return table
  }

  async function current(): Promise<LanceTable | undefined> {
    return clock.monotonicMs() - checkedAtMs >= stalenessMs ? await refreshed() : table
  }

  const isNewest = () => checking === undefined && table !== undefined && standstill?.isKept() === true

  return {
    any: async () => table ?? (await current()),
    current,
    /** A look that began before the call may have missed what was committed just before it. */
    newest: async () => {
      if (checking !== undefined) await checking.catch(() => undefined)
      return await refreshed()
    },
    isNewest,
    version: () => {
      const open = table
      if (open === undefined || !isNewest()) return undefined
      version ??= retried(catalog.retry, () => open.version()).catch((error: unknown) => {
        version = undefined
        throw error
      })
      return version
    },
    put: (made) => {
      table = made
    },
    wrote: () => standstill?.wrote(),
  }
}

/** Asked only after a crash that may have cut a file, which the engine can also say in words that pond does not know. */
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
  for (const index of declared) await retried(catalog.retry, () => buildIndex(table, index))
  return declared.map(indexName)
}
