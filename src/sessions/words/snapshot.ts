/**
 * What there is to search at a moment: the segments that hold the older messages, and in memory those that no segment
 * holds yet. Looked at again at every search, which costs two version numbers; read again only where one has changed.
 */
import type { Filter } from "../../substrate/filter.ts"
import { facetsOf, leftToAsk, passing } from "./query/document-filter.ts"
import type { Documents } from "./segment/documents.ts"
import { type LoadedSegment, loadFacets, type Trust, type WordTables, wholeCover } from "./segment/segments.ts"
import { currentBook } from "./terms/term-interner.ts"
import { type Built, createBuilder, type MessageBatch } from "./write/index-builder.ts"
import { type Bounds, messageBatches, OutOfOrder, sortedBatches } from "./write/message-batches.ts"

export interface Part {
  readonly from: number
  readonly documents: Documents
}

export interface TailPart extends Part {
  /** The number behind its last message. */
  readonly to: number
  readonly built: Built
}

export interface Content {
  readonly cover: readonly LoadedSegment[]
  readonly tail: readonly TailPart[]
}

export interface View {
  current(): Promise<Content>
  /** The same for what a search has found, which the last look has seen: it costs no look of its own. */
  holding(rows: readonly number[]): Promise<Content>
  /** A byte for each message, 1 where the filter lets it pass; nothing where it lets all of them. */
  passing(part: Part, where: Filter): Promise<Uint8Array | undefined>
  forget(): void
}

/** Of one part: a question with its pages and the next one, each with filters of its own. */
const MASKS_MAX = 8

interface Tail {
  readonly version: number | undefined
  readonly from: number
  readonly parts: readonly TailPart[]
}

/** Who searches while messages come in makes so many of them anew, which takes some 30 ms. */
const TAIL_ROWS_AT_ONCE = 4096

export function createView(tables: WordTables, rowsAtOnce = TAIL_ROWS_AT_ONCE): View {
  let cover: { readonly version: number | undefined; readonly segments: readonly LoadedSegment[] } | undefined
  let tail: Tail | undefined
  let looking: Promise<Content> | undefined
  let isBegun = false
  let next: Promise<Content> | undefined
  /** Once something that was named was not there, each block is looked for. */
  let trust: Trust = "directories"
  let loading: Promise<void> = Promise.resolve()
  const masks = new WeakMap<Documents, Map<string, Promise<Uint8Array>>>()

  async function look(): Promise<Content> {
    const [version, newest] = await Promise.all([tables.segments.version(), tables.messages.version()])
    if (cover === undefined || cover.version !== version) {
      const known = new Map((cover?.segments ?? []).map((segment) => [segment.id, segment]))
      cover = { version, segments: version === undefined ? [] : (await wholeCover(tables, known, trust)).cover }
      trust = "directories"
    }
    const from = cover.segments.at(-1)?.to ?? 0
    if (tail === undefined || tail.version !== newest || tail.from !== from) {
      tail = await readTail(tables, tail, { version: newest, from, rowsAtOnce })
    }
    return { cover: cover.segments, tail: tail.parts }
  }

  /** Who asks in the same turn shares the look. */
  function lookNow(): Promise<Content> {
    isBegun = false
    looking = Promise.resolve()
      .then(() => {
        isBegun = true
        return look()
      })
      .finally(() => {
        looking = undefined
      })
    return looking
  }

  /** Of all segments at once, and by turns: who comes second finds what the first has read. */
  function loadFacetsOf(part: LoadedSegment, where: Filter): Promise<void> {
    const load = () => loadFacets(tables, [...new Set([part, ...(cover?.segments ?? [])])], facetsOf(where))
    const mine = loading.then(load, load)
    loading = mine
    return mine
  }

  async function maskOf(part: Part, asked: Filter): Promise<Uint8Array> {
    if ("id" in part) await loadFacetsOf(part as LoadedSegment, asked)
    return passing(part.documents, asked, part.from) ?? (await askedFor(tables, part, asked))
  }

  function current(): Promise<Content> {
    if (looking === undefined) return lookNow()
    if (!isBegun) return looking
    // That look may have missed what was stored just before this call.
    next ??= looking
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return looking ?? lookNow()
      })
    return next
  }

  return {
    current,
    holding: async (rows) => {
      const seen: Content = { cover: cover?.segments ?? [], tail: tail?.parts ?? [] }
      const last: Part | undefined = seen.tail.at(-1) ?? seen.cover.at(-1)
      const reach = last === undefined ? 0 : last.from + last.documents.size
      return rows.every((row) => row < reach) ? seen : await current()
    },
    passing: async (part, where) => {
      const { documents, from } = part
      const asked = leftToAsk(where, from, from + documents.size)
      if (asked === undefined) return undefined
      const own = masksOf(masks, documents)
      const key = filterKey(asked)
      // A search asks two questions with one filter at once.
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
    forget: () => {
      trust = "blocks"
      cover = undefined
      tail = undefined
    },
  }
}

interface TailRequest extends Pick<Tail, "version" | "from"> {
  readonly rowsAtOnce: number
}

/** While messages come in only the last part is made anew: those before it have all the rows that they will ever have. */
async function readTail(
  tables: WordTables,
  before: Tail | undefined,
  { version, from, rowsAtOnce }: TailRequest,
): Promise<Tail> {
  if (version === undefined) return { version, from, parts: [] }
  const isMore = before?.version !== undefined && before.version < version && before.from === from
  const parts = isMore ? before.parts.slice(0, -1) : []
  for await (const part of builtFrom(tables, parts.at(-1)?.to ?? from, rowsAtOnce)) parts.push(part)
  return { version, from, parts }
}

/** They go with the part that they are of. */
function masksOf<Mask>(masks: WeakMap<Documents, Map<string, Mask>>, documents: Documents): Map<string, Mask> {
  const known = masks.get(documents)
  if (known !== undefined) return known
  const own = new Map<string, Mask>()
  masks.set(documents, own)
  return own
}

function filterKey(where: Filter): string {
  return JSON.stringify(where, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value))
}

/** A filter by what segments do not know is asked of the table, before anything is ranked. */
async function askedFor({ messages }: WordTables, { from, documents }: Part, where: Filter): Promise<Uint8Array> {
  const mask = new Uint8Array(documents.size)
  for await (const { numbers } of messages.stretches({ from, to: from + documents.size, columns: [], where }))
    for (const number of numbers) mask[number - from] = 1
  return mask
}

/** The messages from a row number on, a part at a time. Rows may lie in any order within one. */
async function* builtFrom({ messages }: WordTables, from: number, rowsAtOnce: number): AsyncGenerator<TailPart> {
  const count = await messages.reach()
  for (let start = from; start < count; start += rowsAtOnce) {
    const isLast = start + rowsAtOnce >= count
    const built = await builtBetween(messages, { from: start, ...(isLast ? {} : { to: start + rowsAtOnce }) })
    const { size } = built.documents
    if (size > 0)
      yield { from: start, to: isLast ? start + size : start + rowsAtOnce, built, documents: built.documents }
  }
}

async function builtBetween(messages: WordTables["messages"], bounds: Bounds): Promise<Built> {
  const builtOf = async (batches: AsyncIterable<MessageBatch>) => {
    const builder = createBuilder(currentBook())
    for await (const batch of batches) builder.add(batch)
    return builder.finish()
  }
  try {
    return await builtOf(messageBatches(messages, bounds))
  } catch (error) {
    if (!(error instanceof OutOfOrder)) throw error
    return await builtOf(sortedBatches(messages, bounds))
  }
}
