/** Opens a store over Lance: tables of a directory or a bucket, each behind the read path, the write path and maintenance. */
import { dirname, join } from "node:path"
import { ensureWritable } from "../platform/host/paths.ts"
import { type Catalog, openCatalog } from "./lance/catalog.ts"
import type { Dataset } from "./lance/dataset.ts"
import { trackErased } from "./lance/erased.ts"
import { openDataset } from "./lance/open-dataset.ts"
import {
  countRows,
  explainScan,
  keysFilter,
  readBlobs,
  scanBatches,
  scanColumns,
  scanRows,
  scanWithin,
} from "./lance/read.ts"
import { readBackFrom } from "./lance/read-back.ts"
import { lastCommitOf, nextRowNumberOf, scanByNumber, takeByNumber, versionOf } from "./lance/row-numbers.ts"
import { beginSnapshot } from "./lance/snapshot.ts"
import { perhapsThere } from "./lance/stored-keys.ts"
import { deleteWhere, insertAbsent, insertBatches, insertColumns } from "./lance/write.ts"
import { DAMAGE_NOTE } from "./local/assess.ts"
import { checkTables, openLocalTables } from "./local/check.ts"
import { type DiskFiles, diskFiles } from "./local/disk-files.ts"
import { OWN_FOLDER, openStoreWriteLock } from "./local/local-table.ts"
import { beginGeneration, readGeneration, repairTables } from "./local/repair.ts"
import { openStaging, removeStaleStaging } from "./local/staging.ts"
import type { Location } from "./location.ts"
import { maintain, tableStatistics } from "./maintain/maintain.ts"
import { purge } from "./maintain/purge.ts"
import type { StoreContext } from "./store-context.ts"
import type { Store, Table } from "./table.ts"
import type { AnyRow, Columns, TableDefinition } from "./table-definition.ts"
import { TOMBSTONES } from "./tombstones.ts"

export function openStore(location: Location, context: StoreContext): Store {
  return storeOf(openCatalog(location, context))
}

function storeOf(catalog: Catalog): Store {
  const datasets = new Map<string, Dataset>()
  const { location, context } = catalog
  const erased = trackErased(datasetOf(TOMBSTONES as unknown as TableDefinition))
  function datasetOf(definition: TableDefinition): Dataset {
    const dataset = datasets.get(definition.name) ?? openDataset(catalog, definition, () => erased())
    datasets.set(definition.name, dataset)
    return dataset
  }
  return {
    location,
    withWriteLock: location.backend === "local" ? openStoreWriteLock(location.uri, context) : (work) => work(),
    table: (definition) => tableOf(datasetOf(definition as unknown as TableDefinition), definition),
    erased,
    beginGeneration: async () => {
      const stored = notedFiles(catalog)
      if (stored === undefined) return
      await beginGeneration(stored)
      await catalog.bucket()?.look(true)
    },
    names: () => catalog.names(),
    tableId: catalog.tableId,
    at: (folder) => storeOf(catalog.at(folder)),
    openStaging: async () => {
      const opened = await openStaging(catalog)
      return opened && { store: storeOf(opened.catalog), adopt: opened.adopt, end: opened.end }
    },
    removeStaleStaging: () => removeStaleStaging(catalog),
    check: async (options) => {
      const stored = await storedTables(catalog)
      if (stored === undefined) return []
      const { files, root, tables } = stored
      const note = { files, path: join(root, OWN_FOLDER, DAMAGE_NOTE) }
      return await checkTables(tables, note, { ...options, readBack: readBackFrom(catalog, options.signal) })
    },
    repair: async () => {
      const stored = await storedTables(catalog)
      return stored === undefined
        ? []
        : await repairTables(stored.tables, stored, { clock: context.clock, readBack: readBackFrom(catalog) })
    },
    generation: async () => {
      const stored = notedFiles(catalog)
      const look = await catalog.bucket()?.look()
      return stored === undefined || look?.hasGeneration === false ? 0 : await readGeneration(stored)
    },
    ...openMarks(catalog),
    gatherOpening: async (tables, isChanged) => {
      if (location.backend === "local") return
      const asked = tables.map((reads) => ({ dataset: datasetOf(reads.definition), reads }))
      const { gatherOpening } = await import("./lance/gather-opening.ts")
      await gatherOpening(catalog, asked, isChanged)
    },
    useSmallCaches: () => catalog.useSmallCaches(),
    close: () => catalog.close(),
  }
}

function openMarks(catalog: Catalog): Pick<Store, "isMarked" | "mark"> {
  const place = (name: string) => {
    const noted = notedFiles(catalog)
    return noted && { files: noted.files, path: join(noted.root, OWN_FOLDER, name) }
  }
  return {
    isMarked: async (name) => {
      const marked = place(name)
      return marked !== undefined && (await marked.files.find(marked.path)) !== undefined
    },
    mark: async (name) => {
      const marked = place(name)
      if (marked !== undefined && catalog.location.backend === "local") ensureWritable(dirname(marked.path))
      await marked?.files.write(marked.path, "1\n")
    },
  }
}

/** Where the notes beside the tables are. Nothing where it is not known what the tables must hold. */
function notedFiles({
  location,
  context,
  bucket,
}: Catalog): { readonly files: DiskFiles; readonly root: string } | undefined {
  const { files = context.disk ?? diskFiles, root = location.uri } = bucket() ?? {}
  return location.backend === "local" || bucket() !== undefined ? { files, root } : undefined
}

async function storedTables(catalog: Catalog) {
  const noted = notedFiles(catalog)
  if (noted === undefined) return undefined
  const bucket = catalog.bucket()
  const tables = bucket === undefined ? openLocalTables(noted.root, catalog.context) : await bucket.tables()
  return { ...noted, tables }
}

/** Rows leave the read path as the declaration types them: `rowsOf` reads each column by its declared kind. */
function tableOf<C extends Columns>(dataset: Dataset, definition: TableDefinition<C>): Table<C> {
  return {
    definition,
    read: (request) => scanRows(dataset, request) as never,
    readWithin: (withinMs, request) => scanWithin(dataset, request, withinMs) as never,
    batches: (request) => scanBatches(dataset, request) as never,
    columnBatches: (request) => scanColumns(dataset, request),
    count: (where) => countRows(dataset, where),
    perhapsThere: (column, values) => perhapsThere(dataset, column, values),
    takeByKey: (keys, columns) =>
      keys.length === 0
        ? Promise.resolve([])
        : (scanRows(dataset, { columns, where: keysFilter(dataset, keys) }) as never),
    takeByNumber: (rows, columns, options) => takeByNumber(dataset, rows, columns, options) as never,
    scanByNumber: (request) => scanByNumber(dataset, request) as never,
    erased: () => dataset.erased(),
    version: () => versionOf(dataset),
    lastCommit: () => lastCommitOf(dataset),
    nextRowNumber: () => nextRowNumberOf(dataset),
    searchVector: (vector, request) => scanRows(dataset, { ...request, vector }) as never,
    readBlobs: (column, request) => readBlobs(dataset, column, request) as never,
    explain: (request) => explainScan(dataset, request),
    insertAbsent: (rows) => insertAbsent(dataset, rows as readonly AnyRow[]),
    insertColumns: (batches) => insertColumns(dataset, batches),
    insertBatches: (batches, isTaken) => insertBatches(dataset, batches, isTaken),
    snapshot: () => beginSnapshot(dataset) as never,
    deleteWhere: (where) => deleteWhere(dataset, where),
    purge: (where) => purge(dataset, where),
    maintain: (effort) => maintain(dataset, effort),
    isWhole: async () => (await dataset.damage()) === undefined,
    statistics: () => tableStatistics(dataset),
  }
}
