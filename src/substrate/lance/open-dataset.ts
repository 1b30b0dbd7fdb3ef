/**
 * Opens a table and keeps its handle fresh (`lance-handle-freshness`): checked for a newer version at every read on a
 * local disk, unless the folder shows that nothing was committed (`freshness.ts`), and every few seconds on an object
 * store, where a check is a request. Nothing sooner is promised (`lance-forward-compat-no-subsecond-freshness`).
 * A local table is healed before it is first opened.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import { healTable } from "../local/heal.ts"
import { commitSignature, type LocalTable } from "../local/local-table.ts"
import { buildIndex } from "../maintain/indexes.ts"
import { indexName, type TableDefinition } from "../table-definition.ts"
import type { Catalog } from "./catalog.ts"
import type { Dataset, ReadInProgress } from "./dataset.ts"
import { trackFreshness } from "./freshness.ts"
import { failureOf } from "./lance-errors.ts"
import { completeRows } from "./read.ts"
import { withRetries } from "./retry.ts"
import { mergeAbsent } from "./write.ts"

const REMOTE_STALENESS_MS = 5000

export function openDataset(catalog: Catalog, definition: TableDefinition): Dataset {
  const { clock, log } = catalog.context
  const local = catalog.local(definition.name)
  const attempt = <Result>(call: (attempt: number) => Promise<Result>) => withRetries(catalog.retry, call)

  let healing: Promise<void> | undefined

  /** Once, and never while this handle holds the write lock: healing takes it. */
  async function heal(): Promise<void> {
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

  const handle = openHandle({ catalog, definition, local, heal })

  async function create(): Promise<LanceTable> {
    const made = await catalog.create(definition)
    if (made.overwritten !== undefined) {
      for await (const rows of completeRows(definition, made.overwritten)) {
        await mergeAbsent({ definition, attempt }, made.table, rows)
      }
    }
    return made.table
  }

  async function beginRead(): Promise<ReadInProgress | undefined> {
    const open = await (local === undefined ? handle.current() : handle.opened())
    if (open === undefined || local === undefined) return open && { table: open, end: () => undefined }
    await local.readers.enter()
    try {
      // Checked again only now: from here on no clean-up removes the newest version.
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
    once: (call) => withRetries(catalog.retry, call, 1),
    exclusively: async (work) => {
      await heal()
      if (local === undefined) return await work()
      return await local.exclusively(() => work().finally(handle.invalidate))
    },
    newest: handle.newest,
    tail: { rows: 0 },
    own: undefined,
    lookedThrough: 0,
    put: 0,
    reach: undefined,
    separate: async () => {
      await heal()
      return await catalog.open(definition)
    },
    beginRead,
    writable: async () => {
      const table = (await handle.newest()) ?? (await create())
      handle.replace(table)
      return table
    },
  }
}

interface HandleOptions {
  readonly catalog: Catalog
  readonly definition: TableDefinition
  readonly local: LocalTable | undefined
  readonly heal: () => Promise<void>
}

interface Handle {
  /** As it was last checked; opened where it never was. */
  opened(): Promise<LanceTable | undefined>
  /** As fresh as a read needs it. */
  current(): Promise<LanceTable | undefined>
  newest(): Promise<LanceTable | undefined>
  /** Whether nothing can have been committed since the last check. */
  isNewest(): boolean
  /** Nothing where it would have to be checked first. */
  version(): Promise<number> | undefined
  /** By one that was created since. */
  replace(table: LanceTable): void
  invalidate(): void
}

function openHandle({ catalog, definition, local, heal }: HandleOptions): Handle {
  const { clock } = catalog.context
  const stalenessMs = local === undefined ? REMOTE_STALENESS_MS : 0
  const tracker = local && trackFreshness(() => commitSignature(local), clock)
  let table: LanceTable | undefined
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined
  /** As of the last check. */
  let version: Promise<number> | undefined

  async function check(): Promise<void> {
    const open = table
    await heal()
    const checked = tracker?.beginCheck()
    version = undefined
    if (open === undefined) table = await catalog.open(definition)
    else await withRetries(catalog.retry, () => open.checkoutLatest())
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
      if (checking !== undefined) await checking.catch(() => undefined)
      return await refresh()
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
