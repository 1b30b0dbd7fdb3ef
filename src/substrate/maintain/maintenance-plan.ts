/**
 * What maintenance a table needs, decided purely from its state. Each rule weighs what a rewrite costs against what the
 * tail costs that every read and write carries until then, so that rewriting stays in proportion to what was added:
 * a table that nobody writes to is never rewritten, and one of a million rows not for ten.
 */
import { type AnyTable, type IndexDefinition, indexName } from "../table-definition.ts"

export interface IndexState {
  readonly name: string
  readonly indexedRows: number
  readonly unindexedRows: number
  readonly bytes: number
  readonly createdAtMs: number
}

export interface TableState {
  readonly rows: number
  readonly fragments: number
  readonly indexes: readonly IndexState[]
  /** What the newest version needs, blobs included, and what only older ones need. Unknown on an object store. */
  readonly bytes?: { readonly live: number; readonly dead: number }
  /** The same on an object store, where nobody has written for as long as older versions stay. */
  readonly atRest?: { readonly live: number; readonly dead: number }
}

/**
 * - `lookups`: only what keeps a running import fast.
 * - `due`: what pays by now.
 * - `all`: everything, because someone asked for it.
 */
export type Effort = "lookups" | "due" | "all"

export type MaintenanceStep =
  | { readonly step: "drop_index"; readonly name: string }
  | { readonly step: "build_index"; readonly index: IndexDefinition; readonly why: string }
  /** Compacts fragments, and folds what was added into every index. */
  | { readonly step: "optimize"; readonly why: string }
  /** Removes the files that only older versions need. */
  | { readonly step: "clean"; readonly why: string }

/** Below so many rows a flat scan is as fast as an index. */
const SCALAR_ROWS_MIN = 1000
const SCALAR_TAIL_MIN = 5000
const SCALAR_TAIL_SHARE = 1 / 20
/** While an import runs only the lookup of keys counts. Up to here a flat scan for each flush costs no more than the builds. */
const LOOKUP_TAIL_MIN = 500_000
const LOOKUP_TAIL_SHARE = 1 / 3
/**
 * On an object store every piece that no index covers costs a read two requests, and a build some hundred. How long a tail
 * waits there is in proportion to what a build reads: an hour, and sixteen for a million rows.
 */
const REMOTE_TAIL_MS_MIN = 3_600_000
const REMOTE_TAIL_MS_PER_ROW = 60
const REMOTE_FRAGMENTS_MIN = 20
const REMOTE_FRAGMENTS_MAX = 100
const REMOTE_ROWS_PER_FRAGMENT = 5000
const VECTOR_TAIL_MIN = 10_000
const VECTOR_TAIL_SHARE = 1 / 10
/**
 * Compaction copies the table, its blobs too: a large one may have more fragments before that pays. A small one is copied
 * in a tenth of a second, while each piece costs every read half a millisecond (64 clients that search, read and write
 * 20,000 messages: 34 answers a second at 100 pieces, 41 at 24).
 */
const FRAGMENTS_MIN = 24
const FRAGMENTS_MAX = 1000
const BYTES_PER_FRAGMENT = 2_000_000
const DEAD_SHARE = 0.1
const DEAD_BYTES_MIN = 16_384
/** A clean-up of a bucket asks it dozens of times. */
const REMOTE_DEAD_SHARE = 0.25
const NO_BYTES = { live: 0, dead: 0 }

export function planMaintenance(
  table: AnyTable & { readonly indexes: readonly IndexDefinition[]; readonly key: readonly string[] },
  state: TableState,
  { effort, nowMs }: { readonly effort: Effort; readonly nowMs: number },
): readonly MaintenanceStep[] {
  if (state.rows === 0) return []
  const byName = new Map(state.indexes.map((index) => [index.name, index]))
  if (effort === "lookups") {
    const lookup = table.indexes.find(({ kind, column }) => kind === "btree" && column === table.key[0])
    if (lookup === undefined || state.rows < LOOKUP_TAIL_MIN) return []
    return buildStep(lookup, byName.get(indexName(lookup)), state, LOOKUP_TAIL)
  }
  const declared = new Set(table.indexes.map(indexName))
  const drops: MaintenanceStep[] = state.indexes
    .filter(({ name }) => !declared.has(name))
    .map(({ name }) => ({ step: "drop_index", name }))
  const why = effort === "all" ? "asked for" : whyOptimize(table, state)
  const builds = table.indexes.flatMap((index) => {
    // What an optimization folds anyway need not be built again before it.
    const built = byName.get(indexName(index))
    if (why !== undefined) return buildStep(index, built, state, NEVER)
    return buildStep(index, built, state, waitsTooLong(index, built, state, nowMs) ? ANY_TAIL : TAILS[index.kind])
  })
  const rewrites: MaintenanceStep[] = why === undefined ? [] : [{ step: "optimize", why }]
  // An index that is new leaves nothing behind, and a clean-up rewrites what lies in pieces.
  const replaced = builds.some((build) => build.step === "build_index" && byName.has(indexName(build.index)))
  const cleans = cleanStep(state, drops.length + rewrites.length > 0 || replaced || effort === "all")
  return [...drops, ...builds, ...rewrites, ...cleans]
}

type TailLimit = (indexedRows: number) => number

const limit =
  (min: number, share: number): TailLimit =>
  (indexedRows) =>
    Math.max(min, indexedRows * share)

const NEVER: TailLimit = () => Number.POSITIVE_INFINITY
const ANY_TAIL: TailLimit = () => 1
const LOOKUP_TAIL = limit(LOOKUP_TAIL_MIN, LOOKUP_TAIL_SHARE)
const VECTOR_TAIL = limit(VECTOR_TAIL_MIN, VECTOR_TAIL_SHARE)
const SCALAR_TAIL = limit(SCALAR_TAIL_MIN, SCALAR_TAIL_SHARE)

/** The tail at which an index is built again by itself. Vectors are folded in by an optimization instead. */
const TAILS: Readonly<Record<IndexDefinition["kind"], TailLimit>> = {
  btree: SCALAR_TAIL,
  bitmap: SCALAR_TAIL,
  ivf_rq: NEVER,
}

function waitsTooLong(
  { kind }: IndexDefinition,
  built: IndexState | undefined,
  { rows, bytes }: TableState,
  nowMs: number,
): boolean {
  const isRemote = bytes === undefined
  if (!isRemote || kind !== "btree" || built === undefined) return false
  return nowMs - built.createdAtMs >= Math.max(REMOTE_TAIL_MS_MIN, rows * REMOTE_TAIL_MS_PER_ROW)
}

function buildStep(
  index: IndexDefinition,
  built: IndexState | undefined,
  state: TableState,
  tail: TailLimit,
): MaintenanceStep[] {
  if (built === undefined) {
    return state.rows >= rowsMin(index) ? [{ step: "build_index", index, why: "it is missing" }] : []
  }
  if (built.unindexedRows < tail(built.indexedRows)) return []
  return [{ step: "build_index", index, why: `${built.unindexedRows} rows are not in it` }]
}

function rowsMin(index: IndexDefinition): number {
  return index.kind === "ivf_rq" ? index.rowsMin : SCALAR_ROWS_MIN
}

function whyOptimize(
  table: AnyTable & { readonly indexes: readonly IndexDefinition[] },
  state: TableState,
): string | undefined {
  const vectorIndexes = new Set(table.indexes.filter(({ kind }) => kind === "ivf_rq").map(indexName))
  for (const { name, indexedRows, unindexedRows } of state.indexes) {
    if (!vectorIndexes.has(name)) continue
    if (unindexedRows > 0 && unindexedRows >= VECTOR_TAIL(indexedRows))
      return `${unindexedRows} rows are not in ${name}`
  }
  const allowed = fragmentsAllowed(state)
  return state.fragments > allowed ? `it lies in ${state.fragments} pieces` : undefined
}

function fragmentsAllowed({ bytes, rows }: TableState): number {
  if (bytes === undefined) {
    return Math.min(REMOTE_FRAGMENTS_MAX, Math.max(REMOTE_FRAGMENTS_MIN, rows / REMOTE_ROWS_PER_FRAGMENT))
  }
  const byBytes = bytes.live / BYTES_PER_FRAGMENT
  return Math.min(FRAGMENTS_MAX, Math.max(FRAGMENTS_MIN, byBytes))
}

function cleanStep({ bytes = NO_BYTES, atRest = NO_BYTES }: TableState, isRewritten: boolean): MaintenanceStep[] {
  if (isRewritten) return [{ step: "clean", why: "what was rewritten leaves its old files behind" }]
  if (atRest.dead > Math.max(DEAD_BYTES_MIN, atRest.live * REMOTE_DEAD_SHARE))
    return [{ step: "clean", why: `${atRest.dead} of ${atRest.dead + atRest.live} bytes belong to older versions` }]
  if (bytes.dead < Math.max(DEAD_BYTES_MIN, bytes.live * DEAD_SHARE)) return []
  return [{ step: "clean", why: `${bytes.dead} of ${bytes.dead + bytes.live} bytes belong to older versions` }]
}
