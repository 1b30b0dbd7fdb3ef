/**
 * The searchable content of the index at one moment: the segments on disk, and the newest messages ("tail") indexed in
 * memory. Every search refreshes the snapshot, which costs two version numbers; data is read again only where a version
 * has changed.
 */
import type { Filter } from "../../substrate/filter.ts"
import { attributesOf, evaluateFilter, simplifyFilter } from "./query/document-filter.ts"
import type { Documents } from "./segment/documents.ts"
import { type LoadedSegment, loadAttributes, loadCover, type Trust, type WordTables } from "./segment/segments.ts"
import { currentInterner } from "./terms/term-interner.ts"
import { createIndexBuilder, type InvertedIndex, type MessageBatch } from "./write/index-builder.ts"
import { type Bounds, OutOfOrder, readBatches, readSortedBatch } from "./write/message-batches.ts"

export interface Shard {
  readonly from: number
  readonly documents: Documents
}

export interface TailShard extends Shard {
  /** One past the row number of its last message. */
  readonly to: number
  readonly built: InvertedIndex
}

export interface IndexSnapshot {
  readonly cover: readonly LoadedSegment[]
  readonly tail: readonly TailShard[]
}

export interface Snapshots {
  current(): Promise<IndexSnapshot>
  /** The latest snapshot if it contains these rows, as it does for the hits of a search. Saves the refresh. */
  containing(rows: readonly number[]): Promise<IndexSnapshot>
  /** One byte per message, 1 where the filter matches; undefined where it matches all of them. */
  filterMask(part: Shard, where: Filter): Promise<Uint8Array | undefined>
  invalidate(): void
}

/** Masks cached per shard: enough for a query, its pages and the next query, each with other filters. */
const MASKS_MAX = 8

interface Cover {
  readonly version: number | undefined
  readonly isWhole: boolean
  readonly segments: readonly LoadedSegment[]
}

/** Segments name messages by number: where some cannot be read, all others are indexed in memory instead. */
async function areWhole({ messages, segments, blocks }: WordTables): Promise<boolean> {
  const whole = await Promise.all([messages.isWhole(), segments.isWhole(), blocks.isWhole()])
  return whole.every(Boolean)
}

function readVersions(tables: WordTables) {
  return Promise.all([tables.segments.version(), tables.messages.version(), areWhole(tables)])
}

interface Tail {
  readonly version: number | undefined
  readonly from: number
  readonly parts: readonly TailShard[]
}

/**
 * Rows per shard of the tail. While messages arrive, each search rebuilds the last shard only, which takes about 30 ms.
 */
const TAIL_ROWS_AT_ONCE = 4096

export function createSnapshots(tables: WordTables, rowsAtOnce = TAIL_ROWS_AT_ONCE): Snapshots {
  let cover: Cover | undefined
  let tail: Tail | undefined
  let refreshing: Promise<IndexSnapshot> | undefined
  let hasStarted = false
  let next: Promise<IndexSnapshot> | undefined
  /** Switches to "blocks" after something that a directory names was missing: then every block is checked. */
  let trust: Trust = "directories"
  let loading: Promise<void> = Promise.resolve()
  const masks = new WeakMap<Documents, Map<string, Promise<Uint8Array>>>()

  async function refresh(): Promise<IndexSnapshot> {
    const [version, newest, isWhole] = await readVersions(tables)
    if (cover === undefined || cover.version !== version || cover.isWhole !== isWhole) {
      const known = new Map((cover?.segments ?? []).map((segment) => [segment.id, segment]))
      const isUsable = version !== undefined && isWhole
      cover = { version, isWhole, segments: isUsable ? (await loadCover(tables, known, trust)).cover : [] }
      trust = "directories"
    }
    const from = cover.segments.at(-1)?.to ?? 0
    if (tail === undefined || tail.version !== newest || tail.from !== from) {
      tail = await readTail(tables, tail, { version: newest, from, rowsAtOnce })
    }
    return { cover: cover.segments, tail: tail.parts }
  }

  /** Searches that start in the same tick share one refresh. */
  function startRefresh(): Promise<IndexSnapshot> {
    hasStarted = false
    refreshing = Promise.resolve()
      .then(() => {
        hasStarted = true
        return refresh()
      })
      .finally(() => {
        refreshing = undefined
      })
    return refreshing
  }

  /**
   * Loads the attributes for all segments in one read. Calls run one after the other, so that the second finds what the
   * first has read.
   */
  function loadAttributesFor(part: LoadedSegment, where: Filter): Promise<void> {
    const load = () => loadAttributes(tables, [...new Set([part, ...(cover?.segments ?? [])])], attributesOf(where))
    const mine = loading.then(load, load)
    loading = mine
    return mine
  }

  async function maskOf(part: Shard, asked: Filter): Promise<Uint8Array> {
    if ("id" in part) await loadAttributesFor(part as LoadedSegment, asked)
    return evaluateFilter(part.documents, asked, part.from) ?? (await readMask(tables, part, asked))
  }

  function current(): Promise<IndexSnapshot> {
    if (refreshing === undefined) return startRefresh()
    if (!hasStarted) return refreshing
    // A refresh that is already running may have missed what was stored just before this call.
    next ??= refreshing
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return refreshing ?? startRefresh()
      })
    return next
  }

  return {
    current,
    containing: async (rows) => {
      const seen: IndexSnapshot = { cover: cover?.segments ?? [], tail: tail?.parts ?? [] }
      const last: Shard | undefined = seen.tail.at(-1) ?? seen.cover.at(-1)
      const reach = last === undefined ? 0 : last.from + last.documents.size
      return rows.every((row) => row < reach) ? seen : await current()
    },
    filterMask: async (part, where) => {
      const { documents, from } = part
      const asked = simplifyFilter(where, from, from + documents.size)
      if (asked === undefined) return undefined
      const own = masksFor(masks, documents)
      const key = filterKey(asked)
      // One search runs two queries with the same filter at once, so the promise is cached, not the mask.
      const mask = own.get(key) ?? maskOf(part, asked)
      own.delete(key)
      own.set(key, mask)
      for (const oldest of own.keys()) if (own.size > MASKS_MAX) own.delete(oldest)
      try {
        return await mask
      } catch (error) {
        own.delete(key)
        throw error
      }
    },
    invalidate: () => {
      trust = "blocks"
      cover = undefined
      tail = undefined
    },
  }
}

interface TailRequest extends Pick<Tail, "version" | "from"> {
  readonly rowsAtOnce: number
}

/**
 * Indexes the messages behind the last segment. Only the last shard is rebuilt as messages arrive: the others are full.
 */
async function readTail(
  tables: WordTables,
  before: Tail | undefined,
  { version, from, rowsAtOnce }: TailRequest,
): Promise<Tail> {
  if (version === undefined) return { version, from, parts: [] }
  const isMore = before?.version !== undefined && before.version < version && before.from === from
  const parts = isMore ? before.parts.slice(0, -1) : []
  for await (const part of buildTail(tables, parts.at(-1)?.to ?? from, rowsAtOnce)) parts.push(part)
  return { version, from, parts }
}

/** The masks of a shard, which are dropped together with it. */
function masksFor<Mask>(masks: WeakMap<Documents, Map<string, Mask>>, documents: Documents): Map<string, Mask> {
  const known = masks.get(documents)
  if (known !== undefined) return known
  const own = new Map<string, Mask>()
  masks.set(documents, own)
  return own
}

function filterKey(where: Filter): string {
  return JSON.stringify(where, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value))
}

/** Evaluates a filter on a column that segments do not hold, by asking the table before anything is ranked. */
async function readMask({ messages }: WordTables, { from, documents }: Shard, where: Filter): Promise<Uint8Array> {
  const mask = new Uint8Array(documents.size)
  for await (const { numbers } of messages.scanByNumber({ from, to: from + documents.size, columns: [], where }))
    for (const number of numbers) mask[number - from] = 1
  return mask
}

/** Indexes the messages from a row number on, shard by shard. Rows may come in any order within one. */
async function* buildTail({ messages }: WordTables, from: number, rowsAtOnce: number): AsyncGenerator<TailShard> {
  const count = await messages.nextRowNumber()
  for (let start = from; start < count; start += rowsAtOnce) {
    const isLast = start + rowsAtOnce >= count
    const built = await buildShard(messages, { from: start, ...(isLast ? {} : { to: start + rowsAtOnce }) })
    const { size } = built.documents
    if (size > 0)
      yield { from: start, to: isLast ? start + size : start + rowsAtOnce, built, documents: built.documents }
  }
}

async function buildShard(messages: WordTables["messages"], bounds: Bounds): Promise<InvertedIndex> {
  const builtOf = async (batches: AsyncIterable<MessageBatch>) => {
    const builder = createIndexBuilder(currentInterner())
    for await (const batch of batches) builder.add(batch)
    return builder.finish()
  }
  try {
    return await builtOf(readBatches(messages, bounds))
  } catch (error) {
    if (!(error instanceof OutOfOrder)) throw error
    return await builtOf(readSortedBatch(messages, bounds))
  }
}
