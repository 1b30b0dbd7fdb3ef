/**
 * The catalog: where a table lies, and the only code that connects, opens and creates (`lance-chokepoints-catalog`).
 * Everything of one store shares one connection, one cache and one object-store client.
 * Tables come into being at their first write: reading a store that is not there makes nothing.
 */
import { join } from "node:path"
import type { Connection, Table as LanceTable, Session } from "@lancedb/lancedb"
import { lazy } from "../../platform/lazy.ts"
import { limitNativeLog } from "../../platform/native/native-environment.ts"
import { readyScratch } from "../../platform/native/scratch.ts"
import type * as BucketModule from "../bucket/bucket.ts"
import type { Bucket } from "../bucket/bucket.ts"
import type { BucketUse, Gateway } from "../bucket/gateway.ts"
import type * as GatewayModule from "../bucket/open-gateway.ts"
import { arrowSchema, SCHEMA_VERSION_KEY, TABLE_ID_KEY } from "../columns/arrow-rows.ts"
import type { Assessment } from "../local/assess.ts"
import { type DiskFiles, diskFiles, leadsThroughFile, makePrivate } from "../local/disk-files.ts"
import { type LocalTable, openLocalTable, type StoredTable } from "../local/local-table.ts"
import { linkReadablePart } from "../local/readable-part.ts"
import { type Location, within } from "../location.ts"
import type { StoreContext } from "../store-context.ts"
import { refuseNewerSchema, type TableDefinition } from "../table-definition.ts"
import { metadataOf } from "./answers.ts"
import { engine } from "./engine.ts"
import { failureOf, misplacedStore } from "./lance-errors.ts"
import { type RetryContext, withRetries } from "./retry.ts"

export interface CreatedTable {
  readonly table: LanceTable
  /** What another process had stored in the meantime, and what the new table hides: to be stored again. */
  readonly overwritten: LanceTable | undefined
}

/** A place that holds tables, as the chokepoints see it. */
export interface Catalog {
  readonly location: Location
  readonly context: StoreContext
  readonly retry: RetryContext
  /** The table, or nothing where it was never written. */
  open(definition: TableDefinition, use?: BucketUse): Promise<LanceTable | undefined>
  /** The table as it lies in that folder, which is not the one of the store. */
  openAt(folder: string, definition: TableDefinition): Promise<LanceTable | undefined>
  /** Opens tables as a process does that has read nothing yet. */
  anew(): Promise<Pick<Catalog, "open"> & { close(): void }>
  /** A table of which nothing but the name is known, to read it as it lies there; below that folder, or of the store. */
  openNamed(name: string, folder?: string): Promise<LanceTable | undefined>
  create(definition: TableDefinition): Promise<CreatedTable>
  /** The id of a table as it was last opened or made; nothing where it was not there. */
  tableId(name: string): string | undefined
  /** The files of the table, where the store is local. */
  local(name: string): LocalTable | undefined
  /** The notes beside the tables, where the store is a bucket that keeps some. */
  bucket(): Bucket | undefined
  /** What stands between the engine and a bucket, where something does. */
  gateway(): Gateway | undefined
  /** Where the whole part of a damaged table can be opened: see `local/readable-part.ts`. */
  linkReadable(table: StoredTable, damage: Assessment): string | undefined
  names(): Promise<string[]>
  /** Only what a check of the store has written itself is ever dropped. */
  drop(name: string): Promise<void>
  at(folder: string): Catalog
  useSmallCaches(): void
  close(): void
}

/**
 * The engine's own defaults are six gigabytes and one, and its third argument, which its declaration offers for a
 * session, is not read at all: the session has to be among the options. pond also idles beside an editor.
 */
const INDEX_CACHE_BYTES = 64n * 1024n * 1024n
const METADATA_CACHE_BYTES = 16n * 1024n * 1024n
/**
 * What stood in an index that was built anew stays in the cache until it is full, in twice the bytes that are counted: a
 * watch that only looks up keys grew by a hundred megabytes in an hour, and does not with so much.
 */
const LITTLE_INDEX_CACHE_BYTES = 8n * 1024n * 1024n

/** What a store and all stores inside it share. */
interface Shared {
  /** Made when it is first asked for. */
  session(): Session
  useSmallCaches(): void
  gateway(): Gateway | undefined
  close(): void
}

function createShared(location: Location, context: StoreContext): Shared {
  let opened: { readonly gateway: Gateway | undefined } | undefined
  let session: Session | undefined
  let indexBytes = INDEX_CACHE_BYTES
  return {
    session: () => {
      const { lance } = engine()
      readyScratch()
      session ??= new lance.Session(indexBytes, METADATA_CACHE_BYTES)
      return session
    },
    useSmallCaches: () => {
      indexBytes = LITTLE_INDEX_CACHE_BYTES
    },
    gateway: () => {
      opened ??= { gateway: location.backend === "local" ? undefined : gateways().openGatewayOf(location, context) }
      return opened.gateway
    },
    close: () => {
      opened?.gateway?.close()
      opened = undefined
    },
  }
}

/** A store in a directory starts without the twenty modules of one in a bucket. */
const buckets = () => require("../bucket/bucket.ts") as typeof BucketModule
const gateways = () => require("../bucket/open-gateway.ts") as typeof GatewayModule

const NEW_TABLES: Readonly<Record<string, string>> = {
  // `lance-table-creation-stable-row-ids`
  new_table_enable_stable_row_ids: "true",
  new_table_enable_v2_manifest_paths: "true",
  new_table_data_storage_version: "2.2",
}

export function openCatalog(location: Location, context: StoreContext, given?: Shared): Catalog {
  const shared = given ?? createShared(location, context)
  const connections = new Map<BucketUse, Promise<Connection>>()
  const retry: RetryContext = { random: context.random, sleep: context.sleep ?? Bun.sleep, store: location.shown }
  const storageOptions = (use: BucketUse) => ({ ...location.storageOptions(), ...shared.gateway()?.options(use) })
  const connected = (use: BucketUse = "guarded"): Promise<Connection> => {
    const known = connections.get(use)
    if (known !== undefined) return known
    limitNativeLog(context.log.level)
    const made = withRetries(retry, () => {
      const options = { ...storageOptions(use), ...NEW_TABLES }
      return engine().lance.connect(location.uri, { storageOptions: options, session: shared.session() })
    })
    connections.set(use, made)
    made.catch(() => connections.delete(use))
    return made
  }
  const ids = new Map<string, string>()
  const disk = context.disk ?? diskFiles
  const local = (name: string) =>
    location.backend === "local" ? openLocalTable(location.uri, name, context, disk) : undefined
  const bucket = lazy(() =>
    location.backend === "local" ? undefined : buckets().openBucket(location, context, shared.gateway()),
  )
  const isAbsent = (folder: string) => isAbsentFolder(location, disk, folder)
  return {
    location,
    context,
    retry,
    gateway: shared.gateway,
    open: async (definition, use) => {
      if (await isAbsent(join(location.uri, `${definition.name}.lance`))) return undefined
      const opened = await openTable(await connected(use), definition, retry)
      noteId(ids, definition.name, opened?.metadata)
      return opened?.table
    },
    tableId: (name) => ids.get(name),
    openAt: async (folder, definition) => {
      const own = storageOptions("unguarded")
      const elsewhere = await connectApart(folder, own, shared.session(), retry)
      return (await openTable(elsewhere, definition, retry, own))?.table
    },
    anew: () => openAnew(location, storageOptions("recorded"), retry),
    openNamed: async (name, folder) => {
      if (folder === undefined && (await isAbsent(join(location.uri, `${name}.lance`)))) return undefined
      const own = storageOptions("uncached")
      const open = await (folder === undefined
        ? connected("uncached")
        : connectApart(folder, own, shared.session(), retry))
      return await withRetries(retry, () => open.openTable(name, [], { storageOptions: own }))
    },
    create: async (definition) => {
      const created = await createTable(await connected(), definition, retry)
      noteId(ids, definition.name, await metadataOf(created.table))
      if (location.backend === "local") makePrivate(join(location.uri, `${definition.name}.lance`))
      return created
    },
    local,
    bucket,
    linkReadable: (table, damage) =>
      linkReadablePart(table, damage, location.backend === "local" ? undefined : location.uri),
    names: async () => {
      if (await isAbsent(location.uri)) return []
      const open = await connected()
      return await withRetries(retry, () => open.tableNames())
    },
    drop: async (name) => {
      const open = await connected()
      await withRetries(retry, () => open.dropTable(name))
      await local(name)?.discard()
      await bucket()?.table(name).discard()
    },
    at: (folder) => openCatalog(within(location, folder), context, shared),
    useSmallCaches: shared.useSmallCaches,
    close: () => {
      for (const connection of connections.values()) connection.then((open) => open.close()).catch(() => undefined)
      connections.clear()
      if (given === undefined) shared.close()
    },
  }
}

/** The engine makes the folder that it connects to, and who only reads must leave nothing behind. */
async function isAbsentFolder({ backend, uri, shown }: Location, disk: DiskFiles, folder: string): Promise<boolean> {
  if (backend !== "local" || (await disk.size(folder)) !== undefined) return false
  if (await leadsThroughFile(uri)) throw misplacedStore(shown)
  return true
}

function connectApart(uri: string, storageOptions: Record<string, string>, session: Session, retry: RetryContext) {
  return withRetries(retry, () => engine().lance.connect(uri, { session, storageOptions }))
}

/** With empty caches. */
async function openAnew(
  location: Location,
  storageOptions: Record<string, string>,
  retry: RetryContext,
): Promise<Pick<Catalog, "open"> & { close(): void }> {
  const session = new (engine().lance.Session)(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES)
  const apart = await connectApart(location.uri, storageOptions, session, retry)
  return {
    open: async (definition) => (await openTable(apart, definition, retry))?.table,
    close: () => apart.close(),
  }
}

/** The id of a table that an older pond has made. */
const UNNAMED = "unnamed"

function noteId(ids: Map<string, string>, name: string, metadata: ReadonlyMap<string, string> | undefined): void {
  if (metadata === undefined) ids.delete(name)
  else ids.set(name, metadata.get(TABLE_ID_KEY) ?? UNNAMED)
}

interface OpenTable {
  readonly table: LanceTable
  readonly metadata: ReadonlyMap<string, string>
}

async function openTable(
  connection: Connection,
  definition: TableDefinition,
  retry: RetryContext,
  /** Files of another place are reached with the options of the table alone. */
  storageOptions?: Record<string, string>,
): Promise<OpenTable | undefined> {
  const options = storageOptions === undefined ? {} : { storageOptions }
  const table = await withRetries(retry, () =>
    connection.openTable(definition.name, [], options).catch((error: unknown) => {
      if (failureOf(error) === "absent") return undefined
      throw error
    }),
  )
  if (table === undefined) return undefined
  const metadata = await metadataOf(table)
  refuseNewerSchema(Number(metadata.get(SCHEMA_VERSION_KEY) ?? "0"), definition, retry.store)
  return { table, metadata }
}

/**
 * Two processes may make the same table at once. One of them makes it, and the other is told that it is there, unless it
 * had looked before: then the engine lets its empty table overwrite the other's, rows and all. A process
 * whose table is not the first version has done that, and brings back the version before it.
 */
async function createTable(
  connection: Connection,
  definition: TableDefinition,
  retry: RetryContext,
): Promise<CreatedTable> {
  const schema = arrowSchema(definition, crypto.randomUUID())
  return await withRetries(retry, async () => {
    const made = await unlessPresent(connection.createEmptyTable(definition.name, schema as never))
    if (made === undefined) {
      const found = await openTable(connection, definition, retry)
      if (found !== undefined) return { table: found.table, overwritten: undefined }
      throw new Error(`Table '${definition.name}' already exists`)
    }
    const version = await made.version()
    if (version === 1) return { table: made, overwritten: undefined }
    return { table: made, overwritten: await connection.openTable(definition.name, [], { version: version - 1 }) }
  })
}

async function unlessPresent(creation: Promise<LanceTable>): Promise<LanceTable | undefined> {
  try {
    return await creation
  } catch (error) {
    if (failureOf(error) === "present") return undefined
    throw error
  }
}
