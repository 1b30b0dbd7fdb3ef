/**
 * Opens a table, and looks at it again when a read needs it fresher (`lance-handle-freshness`): at every read on a local
 * disk, where that costs microseconds; after a few seconds on an object store, where it costs a request.
 * A local table is healed before it is first opened.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { Catalog } from "./catalog.ts"
import type { Dataset, ReadInProgress } from "./dataset.ts"
import { healTable } from "./heal.ts"
import { buildIndex } from "./indexes.ts"
import { failureOf } from "./lance-errors.ts"
import { completeRows } from "./read.ts"
import { retried } from "./retry.ts"
import { indexName, type TableDefinition } from "./table-definition.ts"
import { mergeAbsent } from "./write.ts"

const REMOTE_STALENESS_MS = 5000

export function openDataset(catalog: Catalog, definition: TableDefinition): Dataset {
  const { clock, log } = catalog.context
  const local = catalog.local(definition.name)
  const stalenessMs = local === undefined ? REMOTE_STALENESS_MS : 0
  let table: LanceTable | undefined
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined

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

  async function check(): Promise<void> {
    const open = table
    await healed()
    if (open === undefined) table = await catalog.open(definition)
    else await attempt(() => open.checkoutLatest())
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

  /** A look that began before the call may have missed what was committed just before it. */
  async function newest(): Promise<LanceTable | undefined> {
    if (checking !== undefined) await checking.catch(() => undefined)
    return await refreshed()
  }

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
    const open = local === undefined ? await current() : (table ?? (await current()))
    if (open === undefined || local === undefined) return open && { table: open, end: () => undefined }
    await local.readers.enter()
    try {
      // Looked at from here on: only now is the newest version kept.
      const kept = (await newest()) ?? open
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
    once: (call) => retried(catalog.retry, call, 1),
    exclusively: async (work) => {
      await healed()
      return await (local === undefined ? work() : local.exclusively(work))
    },
    newest,
    tail: { rows: 0 },
    own: undefined,
    reach: undefined,
    separate: async () => {
      await healed()
      return await catalog.open(definition)
    },
    beginRead,
    writable: async () => {
      table = (await newest()) ?? (await created())
      return table
    },
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
