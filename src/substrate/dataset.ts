/**
 * The one handle of a table inside this process, and when it is looked at again (`lance-handle-freshness`): at every
 * read on a local disk, where that costs microseconds; after a few seconds on an object store, where it costs a request.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { Catalog } from "./catalog.ts"
import { retried } from "./retry.ts"
import type { TableDefinition } from "./table-definition.ts"

export const REMOTE_STALENESS_MS = 5000

export interface Dataset {
  readonly definition: TableDefinition
  readonly catalog: Catalog
  /** The table as fresh as a read needs it, or nothing where it was never written. */
  current(): Promise<LanceTable | undefined>
  /** The table at its newest version, made if it is not there. */
  writable(): Promise<LanceTable>
  /** One call into the engine, with the bounded repeats that every call has. */
  attempt<Result>(call: () => Promise<Result>): Promise<Result>
}

export function openDataset(catalog: Catalog, definition: TableDefinition): Dataset {
  const { clock } = catalog.context
  const stalenessMs = catalog.location.backend === "local" ? 0 : REMOTE_STALENESS_MS
  let table: LanceTable | undefined
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined

  const attempt = <Result>(call: () => Promise<Result>) => retried(catalog.retry, call)

  async function check(): Promise<void> {
    const open = table
    if (open === undefined) table = await catalog.open(definition)
    else await attempt(() => open.checkoutLatest())
    checkedAtMs = clock.monotonicMs()
  }

  /** Reads that arrive together share one look. */
  async function refreshed(): Promise<void> {
    checking ??= check().finally(() => {
      checking = undefined
    })
    await checking
  }

  return {
    definition,
    catalog,
    attempt,
    current: async () => {
      if (clock.monotonicMs() - checkedAtMs >= stalenessMs) await refreshed()
      return table
    },
    writable: async () => {
      await refreshed()
      table ??= await catalog.create(definition)
      return table
    },
  }
}
