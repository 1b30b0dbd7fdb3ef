/** Reads posting blocks: the postings of some terms through a cache, or all blocks of a segment in order. */
import { LruCache } from "../../../platform/lru-cache.ts"
import { compare } from "../terms/tokenizer.ts"
import { decompress } from "./compression.ts"
import { type PostingBlock, type PostingList, postingsAt } from "./postings.ts"
import { type Directory, type LoadedSegment, SegmentGone, type WordTables } from "./segments.ts"

/** For blocks and their terms. */
const CACHED_BYTES_MAX = 32_000_000

/** The terms stay one string with a line feed around each: an array of strings would take several times the memory. */
interface CachedBlock {
  readonly segment: string
  readonly terms: string
  readonly lists: Uint8Array
}

export interface BlockReader {
  /** The postings of the terms, per segment. */
  lists(
    segments: readonly LoadedSegment[],
    terms: readonly string[],
  ): Promise<readonly ReadonlyMap<string, PostingList>[]>
  clear(): void
}

/** Reads posting blocks through an LRU cache. Concurrent queries share reads of the same block. */
export function createBlockReader(tables: WordTables): BlockReader {
  const kept = new LruCache<number, CachedBlock>(CACHED_BYTES_MAX)
  const reading = new Map<number, Promise<ReadonlyMap<number, CachedBlock>>>()

  async function read(rows: readonly number[], segmentOf: ReadonlyMap<number, string>) {
    const blocks = new Map<number, CachedBlock>()
    for (const { row, terms, lists } of await tables.blocks.takeByNumber(rows, ["terms", "lists"])) {
      const segment = segmentOf.get(row) ?? ""
      const block = { segment, terms: `\n${terms}\n`, lists: decompress(segment, lists) }
      blocks.set(row, block)
      kept.set(row, block, block.lists.length + block.terms.length)
    }
    return blocks
  }

  /** Starts reading the blocks that nobody reads yet, and waits for all. */
  async function readMissing(rows: readonly number[], segmentOf: ReadonlyMap<number, string>) {
    const own = rows.filter((row) => !reading.has(row))
    if (own.length > 0) {
      const mine = read(own, segmentOf).finally(() => {
        for (const row of own) if (reading.get(row) === mine) reading.delete(row)
      })
      for (const row of own) reading.set(row, mine)
    }
    return await Promise.all(new Set(rows.flatMap((row) => reading.get(row) ?? [])))
  }

  return {
    lists: async (segments, terms) => {
      const wanted = segments.map((segment) =>
        terms.flatMap((term) => {
          const row = segment.rows[findBlock(segment.firstTerms, term)]
          return row === undefined ? [] : [{ term, row }]
        }),
      )
      const segmentOf = new Map(wanted.flatMap((own, at) => own.map(({ row }) => [row, segments[at]?.id ?? ""])))
      const rows = [...segmentOf.keys()]
      const blocks = new Map<number, CachedBlock>()
      for (const row of rows) {
        const block = kept.get(row)
        // A store that was replaced has other blocks at the same row numbers.
        if (block !== undefined && block.segment === segmentOf.get(row)) blocks.set(row, block)
      }
      const missing = rows.filter((row) => !blocks.has(row))
      for (const found of await readMissing(missing, segmentOf))
        for (const [row, block] of found) if (segmentOf.has(row)) blocks.set(row, block)
      if (blocks.size < rows.length) throw new SegmentGone()
      return wanted.map((own) => {
        const found = new Map<string, PostingList>()
        for (const { term, row } of own) {
          const block = blocks.get(row)
          const index = block === undefined ? -1 : findLine(block.terms, term)
          if (block !== undefined && index >= 0) found.set(term, postingsAt(block, index))
        }
        return found
      })
    },
    clear: () => {
      kept.clear()
      reading.clear()
    },
  }
}

/** The line number of a line, or -1. */
function findLine(text: string, line: string): number {
  const at = text.indexOf(`\n${line}\n`)
  let count = at < 0 ? -1 : 0
  for (let before = 0; before < at; before++) if (text.charCodeAt(before) === NEWLINE) count += 1
  return count
}

const NEWLINE = 0x0a

/** Binary search: the last block whose first term is not greater than the term, or -1. */
export function findBlock(firstTerms: readonly string[], term: string): number {
  let [low, high] = [0, firstTerms.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(firstTerms[middle] ?? "", term) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Streams all blocks of a segment in order, a few per read. */
export async function* readBlocks(
  tables: WordTables,
  { id, rows }: Directory & { readonly id: string },
): AsyncGenerator<PostingBlock> {
  for (let from = 0; from < rows.length; from += BLOCKS_AT_ONCE) {
    const wanted = rows.slice(from, from + BLOCKS_AT_ONCE)
    const found = await tables.blocks.takeByNumber(wanted, ["terms", "lists"])
    const byRow = new Map(found.map((row) => [row.row, row]))
    for (const row of wanted) {
      const block = byRow.get(row)
      if (block === undefined) throw new SegmentGone()
      yield { terms: block.terms.split("\n"), lists: decompress(id, block.lists) }
    }
  }
}

const BLOCKS_AT_ONCE = 16
