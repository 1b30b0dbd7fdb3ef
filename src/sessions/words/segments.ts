/**
 * The segments as they lie in the store: which of them together hold every message that is in any, what of one is kept in
 * memory, and how lists are read. What was read of a segment stays right as long as it is there: segments are written
 * once and never changed.
 */
import { PondError } from "../../model/errors.ts"
import { isIn } from "../../substrate/filter.ts"
import type { Table } from "../../substrate/table.ts"
import type { MESSAGES, WORD_BLOCKS, WORD_SEGMENTS } from "../tables.ts"
import { compare } from "./builder.ts"
import { addFacet, type Documents, type FacetName, hasFacet, readDocuments } from "./documents.ts"
import { type Block, listAt, type TermList } from "./lists.ts"

export interface WordTables {
  readonly messages: Table<(typeof MESSAGES)["columns"]>
  readonly segments: Table<(typeof WORD_SEGMENTS)["columns"]>
  readonly blocks: Table<(typeof WORD_BLOCKS)["columns"]>
}

export interface SegmentFacts {
  readonly id: string
  readonly from: number
  readonly to: number
  readonly lastKey: string
  readonly count: number
  readonly tokens: number
  readonly blocks: number
}

/** Where each block of a segment lies, and what its first term is. */
export interface Directory {
  readonly firstTerms: readonly string[]
  readonly rows: readonly number[]
}

export interface LoadedSegment extends SegmentFacts, Directory {
  readonly documents: Documents
}

/** A segment or a block that is named somewhere is not there any more: what was known of the store is of no use. */
export class SegmentGone extends Error {}

const FACT_COLUMNS = ["id", "from_row", "to_row", "last_key", "count", "tokens", "blocks"] as const

export async function readFacts(tables: WordTables): Promise<SegmentFacts[]> {
  const rows = await tables.segments.read({ columns: FACT_COLUMNS })
  return rows.map((row) => ({
    id: row.id,
    from: Number(row.from_row),
    to: Number(row.to_row),
    lastKey: row.last_key,
    count: Number(row.count),
    tokens: Number(row.tokens),
    blocks: row.blocks,
  }))
}

/**
 * From the beginning on without a gap, the longest first: what a merge has replaced is left out. Two processes that fold
 * at once write the same messages twice, and one of the two is taken.
 */
export function coverOf(all: readonly SegmentFacts[]): SegmentFacts[] {
  const cover: SegmentFacts[] = []
  for (let from = 0; ; ) {
    const next = all
      .filter((each) => each.from === from && each.to > from)
      .toSorted((left, right) => right.to - left.to || compare(left.id, right.id))[0]
    if (next === undefined) return cover
    cover.push(next)
    from = next.to
  }
}

/** Of those segments the ones that are whole: all their blocks are there, and their last message is the one they name. */
async function loadSegments(
  tables: WordTables,
  facts: readonly SegmentFacts[],
): Promise<ReadonlyMap<string, LoadedSegment>> {
  if (facts.length === 0) return new Map()
  const ids = facts.map(({ id }) => id)
  const [documents, directories, lastKeys] = await Promise.all([
    tables.segments.read({ columns: ["id", "lengths"], where: isIn("id", ids) }),
    readDirectories(tables, ids),
    lastKeysOf(tables, facts),
  ])
  const bytes = new Map(documents.map((row) => [row.id, row.lengths]))
  const loaded = new Map<string, LoadedSegment>()
  for (const each of facts) {
    const [own, directory] = [bytes.get(each.id), directories.get(each.id)]
    const isWhole = (directory?.rows.length ?? 0) === each.blocks && lastKeys.get(each.to - 1) === each.lastKey
    if (own === undefined || !isWhole) continue
    const known = directory ?? { firstTerms: [], rows: [] }
    loaded.set(each.id, { ...each, ...known, documents: readDocuments(own, each) })
  }
  return loaded
}

/** The cover without those that are not whole: a segment that is not is as if it were not there. */
export async function wholeCover(
  tables: WordTables,
  known: ReadonlyMap<string, LoadedSegment>,
): Promise<{ readonly cover: readonly LoadedSegment[]; readonly broken: readonly string[] }> {
  let facts: readonly SegmentFacts[] = await readFacts(tables)
  const broken = new Set<string>()
  for (;;) {
    const wanted = coverOf(facts)
    const missing = wanted.filter(({ id }) => !known.has(id))
    const loaded = await loadSegments(tables, missing)
    const lost = missing.filter(({ id }) => !loaded.has(id))
    if (lost.length === 0)
      return { cover: wanted.flatMap(({ id }) => known.get(id) ?? loaded.get(id) ?? []), broken: [...broken] }
    for (const { id } of lost) broken.add(id)
    facts = facts.filter(({ id }) => !broken.has(id))
  }
}

/** Adds what is not known yet of those facets. */
export async function loadFacets(
  tables: WordTables,
  segments: readonly { readonly id: string; readonly documents: Documents }[],
  names: readonly FacetName[],
): Promise<void> {
  for (const name of new Set(names)) {
    const missing = segments.filter(({ documents }) => !hasFacet(documents, name))
    if (missing.length === 0) continue
    const where = isIn(
      "id",
      missing.map(({ id }) => id),
    )
    const bytes = new Map(
      (await tables.segments.read({ columns: ["id", name], where })).map((row) => [row.id, row[name]]),
    )
    for (const { id, documents } of missing) {
      const own = bytes.get(id)
      if (own === undefined) throw new SegmentGone()
      addFacet(documents, name, own)
    }
  }
}

/** A key as one text. */
export function keyText({ session_id, id }: { readonly session_id: string; readonly id: string }): string {
  return `${session_id.length} ${session_id}${id}`
}

async function lastKeysOf(tables: WordTables, facts: readonly SegmentFacts[]): Promise<ReadonlyMap<number, string>> {
  const rows = await tables.messages.takeRows(
    facts.map(({ to }) => to - 1),
    ["session_id", "id"],
  )
  return new Map(rows.map((row) => [row.row, keyText(row)]))
}

export async function readDirectories(
  tables: WordTables,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Directory>> {
  const places = new Map<string, { block: number; first: string; row: number }[]>(ids.map((id) => [id, []]))
  const columns = ["segment", "block"] as const
  const request = { from: 0, columns, text: "first_term" as const, where: isIn("segment", ids) }
  for await (const { rows, numbers, text } of tables.blocks.stretches(request)) {
    const bytes = Buffer.from(text.bytes.buffer, text.bytes.byteOffset, text.bytes.byteLength)
    for (const [index, { segment, block }] of rows.entries()) {
      const first = bytes.toString("utf8", text.offsets[index], text.offsets[index + 1])
      places.get(segment)?.push({ block, first, row: numbers[index] ?? 0 })
    }
  }
  return new Map(
    [...places].map(([id, own]) => {
      const ordered = own.sort((left, right) => left.block - right.block)
      return [id, { firstTerms: ordered.map(({ first }) => first), rows: ordered.map(({ row }) => row) }]
    }),
  )
}

// --- Lists ------------------------------------------------------------------------------------------------------------

const KEPT_BYTES = 24_000_000

export interface BlockReader {
  /** The lists of those terms, for each segment. */
  lists(segments: readonly LoadedSegment[], terms: readonly string[]): Promise<readonly ReadonlyMap<string, TermList>[]>
  forget(): void
}

/** What was asked for lately is kept, up to some size. */
export function createBlockReader(tables: WordTables): BlockReader {
  const kept = new Map<number, Block>()
  let keptBytes = 0
  const keep = (row: number, block: Block) => {
    kept.set(row, block)
    keptBytes += block.lists.length
    for (const [oldest, { lists }] of kept) {
      if (keptBytes <= KEPT_BYTES) break
      kept.delete(oldest)
      keptBytes -= lists.length
    }
  }
  return {
    lists: async (segments, terms) => {
      const wanted = segments.map((segment) =>
        terms.flatMap((term) => {
          const row = segment.rows[blockOf(segment.firstTerms, term)]
          return row === undefined ? [] : [{ term, row }]
        }),
      )
      const rows = [...new Set(wanted.flat().map(({ row }) => row))]
      const blocks = new Map<number, Block>()
      for (const row of rows) {
        const block = kept.get(row)
        if (block === undefined) continue
        kept.delete(row)
        kept.set(row, block)
        blocks.set(row, block)
      }
      const missing = rows.filter((row) => !blocks.has(row))
      for (const { row, terms: text, lists } of await tables.blocks.takeRows(missing, ["terms", "lists"])) {
        const block = { terms: text.split("\n"), lists }
        blocks.set(row, block)
        keep(row, block)
      }
      if (blocks.size < rows.length) throw new SegmentGone()
      return wanted.map((own) => {
        const found = new Map<string, TermList>()
        for (const { term, row } of own) {
          const block = blocks.get(row)
          const index = block?.terms.indexOf(term) ?? -1
          if (block !== undefined && index >= 0) found.set(term, listAt(block, index))
        }
        return found
      })
    },
    forget: () => {
      kept.clear()
      keptBytes = 0
    },
  }
}

/** The last that is no later than the term. */
export function blockOf(firstTerms: readonly string[], term: string): number {
  let [low, high] = [0, firstTerms.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(firstTerms[middle] ?? "", term) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** All blocks of a segment in order, a few at a time. */
export async function* blocksOf(tables: WordTables, { rows }: Directory): AsyncGenerator<Block> {
  for (let from = 0; from < rows.length; from += BLOCKS_AT_ONCE) {
    const wanted = rows.slice(from, from + BLOCKS_AT_ONCE)
    const found = await tables.blocks.takeRows(wanted, ["terms", "lists"])
    const byRow = new Map(found.map((row) => [row.row, row]))
    for (const row of wanted) {
      const block = byRow.get(row)
      if (block === undefined) throw new SegmentGone()
      yield { terms: block.terms.split("\n"), lists: block.lists }
    }
  }
}

const BLOCKS_AT_ONCE = 16

export function goneForGood(): PondError {
  return new PondError("conflict", "The index of words is being written anew. Ask again.")
}
