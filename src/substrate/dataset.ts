/** The one handle of a table inside this process, as the chokepoints see it. */
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { Catalog } from "./catalog.ts"
import type { TableDefinition } from "./table-definition.ts"

export interface Dataset {
  readonly definition: TableDefinition
  readonly catalog: Catalog
  readonly isLocal: boolean
  /** The table as fresh as a read needs it, or nothing where it was never written. */
  current(): Promise<LanceTable | undefined>
  /** The table at its newest version. */
  newest(): Promise<LanceTable | undefined>
  /** The table at its newest version, made if it is not there. */
  writable(): Promise<LanceTable>
  /** Does the work while no other process of this machine writes to the table. On an object store just does it. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>
  /** One call into the engine, with the bounded repeats that every call has. */
  attempt<Result>(call: () => Promise<Result>): Promise<Result>
}
