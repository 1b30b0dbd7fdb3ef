/**
 * The word index: ranks, matches and reads messages over all segments and the unindexed tail as if they were one index.
 * A search sees everything that was stored before it began. The bytes on disk are described in `FORMAT.md`.
 */
import type { Lifetime } from "../../platform/host/host.ts"
import { and, type Filter } from "../../substrate/filter.ts"
import type { Picked } from "../../substrate/table.ts"
import type { ScannedName } from "../../substrate/table-definition.ts"
import type { MESSAGES } from "../tables.ts"
import { openDictionary } from "./query/dictionary.ts"
import { matchClauses } from "./query/matching.ts"
import { type Ranked, type RankedSegment, rank } from "./query/rank.ts"
import { createTextCache, type TextCache } from "./query/text-cache.ts"
import { type BlockReader, createBlockReader, findBlock } from "./segment/block-reader.ts"
import { ATTRIBUTES, attributeOf, findSpoken, hasAttribute } from "./segment/documents.ts"
import { encodePostings, type PostingList } from "./segment/postings.ts"
import { indexChangedError, loadAttributes, SegmentGone, type WordTables } from "./segment/segments.ts"
import { createSnapshots, type IndexSnapshot, type Shard, type Snapshots, type TailShard } from "./snapshot.ts"

type Columns = (typeof MESSAGES)["columns"]

export interface WordQuery {
  readonly terms: readonly string[]
  /** AND instead of OR: only messages that have all of the terms. */
  readonly every?: boolean
  /** Fuzzy matching: replaces each term by the known words within this edit distance. */
  readonly distance?: number
}

export interface WordRequest<Name extends ScannedName<Columns>> {
  readonly columns: readonly Name[]
  readonly where?: Filter
  readonly limit: number
}

/** Matches a message that has at least one of the terms. */
export interface WordClause {
  readonly terms: readonly string[]
  /**
   * Messages from this row number on count as matching, because they are newer than the list that the terms were chosen
   * from.
   */
  readonly from?: number
}

export interface WordMatches {
  /** Row numbers, in no particular order. */
  readonly rows: Float64Array
  /** Timestamps in microseconds, parallel to `rows`; undefined for few rows. */
  readonly moments: Float64Array | undefined
}

export interface MatchRequest {
  readonly where: Filter
  readonly most: number
  /** Up to this many rows no timestamps are returned, because reading them all is faster than sorting. */
  readonly few: number
}

export interface TermFrequencies {
  readonly messages: number
  readonly of: ReadonlyMap<string, number>
}

export interface WordIndex {
  /** Best first. `_score` is the BM25 score, `_row` the row number. */
  search<Name extends ScannedName<Columns>>(
    query: WordQuery,
    request: WordRequest<Name>,
  ): Promise<(Picked<Columns, Name> & { readonly _score: number; readonly _row: number })[]>
  /**
   * All messages that match every clause, unranked and without reading a row; undefined where there are more than
   * `most`.
   */
  findMatching(clauses: readonly WordClause[], request: MatchRequest): Promise<WordMatches | undefined>
  /** Columns of messages by row number, in the given order. */
  read<Name extends ScannedName<Columns>>(
    rows: readonly number[],
    columns: readonly Name[],
  ): Promise<(Picked<Columns, Name> & { readonly _row: number })[]>
  /** The subset of terms that at least one message has. */
  known(terms: readonly string[]): Promise<ReadonlySet<string>>
  /** How many messages have each term, and how many there are: how much a word tells. Erased messages count until a purge. */
  frequencies(terms: readonly string[]): Promise<TermFrequencies>
  /**
   * The ordinals at which each session says something, ascending. Undefined in a command, which keeps no attributes in memory:
   * there the table answers faster.
   */
  findSpoken(sessionIds: readonly string[]): Promise<ReadonlyMap<string, readonly number[]> | undefined>
  /** Runs the query and describes how each segment answered it. */
  explain(query: WordQuery, request: Omit<WordRequest<never>, "columns">): Promise<string>
}

type Asked = Omit<WordRequest<never>, "columns">

interface Answer {
  readonly parts: readonly Shard[]
  readonly segments: readonly RankedSegment[]
  readonly terms: readonly string[]
  readonly best: readonly Ranked[]
}

const ATTEMPTS = 5
/** A server keeps these of every message: 17 MB for a million. A command reads those of its hits from the rows. */
const HIT_ATTRIBUTES = ["session_id", "role", "timestamp", "ordinal"] as const

export function openWordIndex(tables: WordTables, lifetime: Lifetime = "command"): WordIndex {
  const view = createSnapshots(tables)
  const blocks = createBlockReader(tables)
  const dictionary = openDictionary(tables)
  const { messages } = tables
  const texts = createTextCache(messages)

  async function takeSnapshot(): Promise<IndexSnapshot> {
    const content = await view.current()
    if (lifetime === "server") await loadAttributes(tables, content.cover, HIT_ATTRIBUTES)
    return content
  }

  async function rankQuery(query: WordQuery, { where, limit }: Asked): Promise<Answer> {
    const { cover, tail } = await takeSnapshot()
    const parts: readonly Shard[] = [...cover, ...tail]
    const terms =
      query.distance === undefined
        ? [...new Set(query.terms)]
        : await dictionary.findSimilar({ cover, tail }, query.terms, query.distance)
    const segments = await prepareSegments({ view, blocks, messages }, { cover, tail }, terms, where)
    return { parts, segments, terms, best: rank(segments, terms, { every: query.every === true, limit }) }
  }

  async function readLists(terms: readonly string[]) {
    const { cover, tail } = await view.current()
    const parts: readonly Shard[] = [...cover, ...tail]
    return { parts, lists: [...(await blocks.lists(cover, terms)), ...tail.map((part) => encodeTail(part, terms))] }
  }

  /** Runs a query again when a merge has removed a segment that it was reading. */
  async function retryAfterMerge<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof SegmentGone)) throw error
        if (attempt === ATTEMPTS) throw indexChangedError()
        view.invalidate()
        blocks.clear()
      }
    }
  }

  return {
    search: (query, { columns, ...asked }) =>
      retryAfterMerge(async () => (await readHits(texts, await rankQuery(query, asked), columns)) as never),
    findMatching: (clauses, { where, most, few }) =>
      retryAfterMerge(async () => {
        const content = await takeSnapshot()
        const terms = [...new Set(clauses.flatMap((clause) => clause.terms))]
        const held = matchSegments(
          content,
          await prepareSegments({ view, blocks, messages }, content, terms, where),
          clauses,
        )
        if (held.rows.length > most) return undefined
        if (held.rows.length > few) await loadAttributes(tables, content.cover, ["timestamp"])
        return { rows: held.rows, moments: held.rows.length > few ? held.moments() : undefined }
      }),
    read: async (rows, columns) => {
      const { cover, tail } = await view.containing(rows)
      const parts: readonly Shard[] = [...cover, ...tail]
      const best = rows.flatMap((row) => {
        const segment = parts.findLastIndex(({ from }) => from <= row)
        return segment < 0 ? [] : [{ segment, number: row - (parts[segment]?.from ?? 0), score: 0 }]
      })
      return (await readHits(texts, { parts, best }, columns)) as never
    },
    known: (terms) =>
      retryAfterMerge(async () => {
        const { lists } = await readLists(terms)
        return new Set(lists.flatMap((own) => [...own.keys()]))
      }),
    frequencies: (terms) =>
      retryAfterMerge(async () => {
        const { lists, parts } = await readLists(terms)
        const of = new Map<string, number>()
        for (const [term, { count }] of lists.flatMap((own) => [...own])) of.set(term, (of.get(term) ?? 0) + count)
        return { messages: parts.reduce((sum, { documents }) => sum + documents.count, 0), of }
      }),
    findSpoken: async (sessionIds) => {
      const { cover, tail } = await view.current()
      const documents = [...cover, ...tail].map((part) => part.documents)
      const isKept = documents.every((each) => hasAttribute(each, "session_id") && hasAttribute(each, "ordinal"))
      return isKept ? findSpoken(documents, sessionIds) : undefined
    },
    explain: (query, asked) => retryAfterMerge(async () => renderExplanation(await rankQuery(query, asked), asked)),
  }
}

interface PreparedBy extends Pick<WordTables, "messages"> {
  readonly view: Snapshots
  readonly blocks: BlockReader
}

/** Before anything is ranked, as every filter: the index still names messages of erased sessions. */
async function withoutErased({ erased, definition }: WordTables["messages"], asked: Filter | undefined) {
  const passing = (await erased()).readableIn(definition)
  return passing === undefined || asked === undefined ? (asked ?? passing) : and(asked, passing)
}

/** Reads the postings of the terms and evaluates the filter, per segment. */
async function prepareSegments(
  { view, blocks, messages }: PreparedBy,
  { cover, tail }: IndexSnapshot,
  terms: readonly string[],
  asked: Filter | undefined,
): Promise<RankedSegment[]> {
  const parts: readonly Shard[] = [...cover, ...tail]
  const where = await withoutErased(messages, asked)
  const [stored, passing] = await Promise.all([
    blocks.lists(cover, terms),
    Promise.all(parts.map((part) => (where === undefined ? undefined : view.filterMask(part, where)))),
  ])
  const lists = [...stored, ...tail.map((part) => encodeTail(part, terms))]
  return parts.map(({ documents }, index) => ({
    documents,
    passing: passing[index],
    lists: lists[index] ?? new Map<string, PostingList>(),
  }))
}

function matchSegments(
  { cover, tail }: IndexSnapshot,
  segments: readonly RankedSegment[],
  clauses: readonly WordClause[],
) {
  const starts = [...cover, ...tail].map(({ from }) => from)
  const numbers = segments.map(({ documents, passing, lists }, index) => {
    const asked = clauses.map(({ terms, from }) => ({
      lists: terms.flatMap((term) => lists.get(term) ?? []),
      ...(from === undefined ? {} : { from: Math.max(0, from - (starts[index] ?? 0)) }),
    }))
    return matchClauses({ size: documents.size, passing }, asked)
  })
  return {
    rows: concatenate(numbers, (number, index) => number + (starts[index] ?? 0)),
    moments: () => concatenate(numbers, (number, index) => segments[index]?.documents.numbers.timestamp?.[number] ?? 0),
  }
}

/** Concatenates one value per number over all segments. */
function concatenate(all: readonly Uint32Array[], of: (number: number, segment: number) => number): Float64Array {
  const values = new Float64Array(all.reduce((sum, each) => sum + each.length, 0))
  let used = 0
  for (const [segment, numbers] of all.entries())
    for (let at = 0; at < numbers.length; at++) values[used++] = of(numbers[at] as number, segment)
  return values
}

/** Postings of the terms in a shard that is indexed in memory. */
function encodeTail({ built, documents }: TailShard, terms: readonly string[]): ReadonlyMap<string, PostingList> {
  const lists = new Map<string, PostingList>()
  for (const term of terms) {
    const index = findBlock(built.terms, term)
    if (built.terms[index] === term) lists.set(term, encodePostings(built.numbersOf(index), documents.size))
  }
  return lists
}

// --- Rows -------------------------------------------------------------------------------------------------------------

type Row = Readonly<Record<string, unknown>>

/** Columns of the ranked messages: attributes come from memory, texts from the cache or the table. */
async function readHits(
  texts: TextCache,
  { parts, best }: Pick<Answer, "parts" | "best">,
  columns: readonly ScannedName<Columns>[],
): Promise<Row[]> {
  if (columns.length === 0) {
    return best.map(({ segment, number, score }) => ({ _score: score, [ROW]: (parts[segment]?.from ?? 0) + number }))
  }
  const kept = ATTRIBUTES.filter((name) => parts.every(({ documents }) => hasAttribute(documents, name)))
  const known = best.map(({ segment, number, score }) => {
    const { from, documents } = parts[segment] as Shard
    const row: Record<string, unknown> = { _score: score, [ROW]: from + number }
    for (const name of kept) row[name] = attributeOf(documents, name, number)
    return row
  })
  const isKnown = new Set<string>(kept.filter((name) => known.every((row) => isExact(row[name]))))
  const read = columns.filter((name) => !isKnown.has(name))
  if (read.length === 0) return known.map((row) => pickColumns(row, columns))
  const isTold = isKnown.has("session_id") && isKnown.has("ordinal")
  const asked = known.map((row) => ({
    row: row[ROW] as number,
    ...(isTold ? { message: `${row["ordinal"]} ${row["session_id"]}` } : {}),
  }))
  const byNumber = await texts.take(asked, read)
  return known.flatMap((row) => {
    const own = byNumber.get(row[ROW] as number)
    return own === undefined ? [] : [pickColumns(row, columns, own)]
  })
}

/** The result column with the row number, by which other columns can be read. */
const ROW = "_row"

/** Timestamps centuries away do not fit into the double that segments store. */
function isExact(value: unknown): boolean {
  return typeof value !== "bigint" || Number.isSafeInteger(Number(value))
}

function pickColumns(row: Row, columns: readonly string[], more: Row = {}): Row {
  const all: Record<string, unknown> = { _score: row["_score"], [ROW]: row[ROW] }
  for (const name of columns) all[name] = name in more ? more[name] : row[name]
  return all
}

// --- In words ---------------------------------------------------------------------------------------------------------

function renderExplanation({ parts, segments, terms, best }: Answer, { where, limit }: Asked): string {
  const lines = [`Rank by BM25: the best ${best.length} of at most ${limit}`]
  for (const [index, { documents, passing, lists }] of segments.entries()) {
    const from = parts[index]?.from ?? 0
    const passed = passing?.reduce((sum, each) => sum + each, 0) ?? documents.size
    lines.push(`  Segment: rows ${from} to ${from + documents.size - 1}, ${documents.count} messages with words`)
    if (where !== undefined) lines.push(`    Filter: ${passed} of ${documents.size} pass`)
    const counts = terms.flatMap((term) => (lists.has(term) ? `${term} ${lists.get(term)?.count}` : []))
    lines.push(`      Read lists: ${counts.join(", ") || "none of the terms"}`)
  }
  return lines.join("\n")
}
