/**
 * Folding keeps the index up to date: messages in no segment yet become a segment, and small segments are merged into
 * larger ones.
 *
 * Merge policy (geometric, as in a log-structured merge tree): a segment is merged with all later ones once those hold
 * a fourth of its messages together, so a message is rewritten only as often as the store grows fourfold. A merge
 * streams its inputs block by block, in the memory of a few blocks.
 *
 * The segment's row is the commit. Blocks without one are invisible, and are removed together with merged segments. A
 * process that is killed in between loses work and nothing else.
 */
import type { Clock } from "../../../platform/host/clock.ts"
import { between } from "../../../platform/memory.ts"
import { eq, isIn } from "../../../substrate/filter.ts"
import type { Effort } from "../../../substrate/maintain/maintenance-plan.ts"
import type { MaintenanceReport } from "../../../substrate/table.ts"
import { readBlocks } from "../segment/block-reader.ts"
import { compress, compressedName } from "../segment/compression.ts"
import {
  ATTRIBUTES,
  type AttributeName,
  attributeBytes,
  type Documents,
  dropAttribute,
  joinDocuments,
  lengthBytes,
} from "../segment/documents.ts"
import { createBlockWriter, decodeInto, encodePostings, type PostingBlock, postingsAt } from "../segment/postings.ts"
import {
  blockKeys,
  chooseCover,
  type Directory,
  keyText,
  loadAttributes,
  loadCover,
  PURGED_KEY,
  readFacts,
  type SegmentFacts,
  SegmentGone,
  scanDirectories,
  type WordTables,
  writeDirectory,
} from "../segment/segments.ts"
import { type StoredBlock, toStoredBlock } from "./shard.ts"
import { buildShards, type PlacedShard } from "./shards.ts"

/**
 * Messages that must wait before a fold starts. Fewer are searched as fast without a segment. During an import only
 * concurrent searches profit, and the index stage follows anyway.
 */
const TAIL_MIN: Readonly<Record<Effort, number>> = { lookups: 200_000, due: 500, all: 1 }
const GROWTH = 4
const NOTHING: MaintenanceReport = { isBusy: false, steps: [] }
/** Messages per shard: about 3 million terms, and 60 MB while it is built. */
const ROWS_AT_ONCE = 16_384
/** Blocks per commit, about 10 MB. */
const BLOCKS_AT_ONCE = 512

/**
 * Shards between two cleanups of memory, each of which takes a tenth of a second. Beside an import, which needs memory
 * too, it is every shard: cleaning up after four raised the peak of a log of gigabytes from 430 to 690 MB, and
 * that of the index of a million messages to 778, where two take 545.
 */
const SHARDS_PER_CLEANUP: Readonly<Record<Effort, number>> = { lookups: 1, due: 2, all: 2 }

/** The fold that an import calls after every flush. Reads the segments only when enough messages may be waiting. */
export function createFolding(tables: WordTables, clock: Clock): (effort: Effort) => Promise<MaintenanceReport> {
  let dueAt = 0
  return async (effort) => {
    if (effort === "lookups" && (await tables.messages.nextRowNumber()) < dueAt) return NOTHING
    const { to, ...report } = await foldWords(tables, effort, clock)
    dueAt = to + TAIL_MIN.lookups
    return report
  }
}

interface FoldReport extends MaintenanceReport {
  /** Messages from this row number on are in no segment. */
  readonly to: number
}

export async function foldWords(
  tables: WordTables,
  effort: Effort,
  clock: Clock,
  rowsAtOnce = ROWS_AT_ONCE,
): Promise<FoldReport> {
  const known = chooseCover(await readFacts(tables))
  const to = known.at(-1)?.to ?? 0
  const waiting = (await tables.messages.nextRowNumber()) - to
  // Negative when the messages table was healed and lost the rows of the last segments.
  const isDue = effort === "all" || waiting < 0 || waiting >= TAIL_MIN[effort]
  // Segments written during an import are merged after it, however few messages came last.
  const isToMerge = effort !== "lookups" && chooseMerge(known).length > 1
  if (!isDue && !isToMerge) return { ...NOTHING, to }
  const steps: MaintenanceReport["steps"][number][] = []
  const runStep = async <Result>(
    step: "build_index" | "optimize" | "clean",
    why: string,
    work: () => Promise<Result>,
  ) => {
    const from = clock.monotonicMs()
    const result = await work()
    steps.push({ step, why, ms: Math.round(clock.monotonicMs() - from) })
    return result
  }
  const { cover: whole, broken } = await loadCover(tables, new Map(), "blocks")
  await removeSegments(tables, broken)
  const cover: CoverSegment[] = [...whole]
  const from = cover.at(-1)?.to ?? 0
  const fresh = (await tables.messages.nextRowNumber()) - from
  if (fresh >= TAIL_MIN[effort]) {
    await runStep("build_index", `${fresh} messages are in no segment`, async () => {
      let parts = 0
      for await (const part of buildShards(tables, { from, rows: rowsAtOnce, besideMin: rowsAtOnce })) {
        cover.push(await writeShard(tables, part))
        parts += 1
        if (parts % SHARDS_PER_CLEANUP[effort] === 0) between("steps")
      }
    })
  }
  const reached = { isBusy: false, to: cover.at(-1)?.to ?? 0 }
  if (effort === "lookups") return { ...reached, steps }
  const merged = chooseMerge(cover)
  if (merged.length > 1) {
    // The worker has ended, and the merge needs nothing of what it and the fold left in memory.
    between("stages")
    const isMerged = await runStep("optimize", `${merged.length} segments are merged`, () => merge(tables, merged))
    if (!isMerged) return { ...reached, isBusy: true, steps }
  }
  const isChanged = steps.length > 0
  if (isChanged || effort === "all") await removeMerged(tables, effort)
  if (isChanged || effort === "all") {
    for (const table of [tables.blocks, tables.segments]) steps.push(...(await compact(table, effort)))
  }
  between("steps")
  return { ...reached, steps }
}

/** A table of this size is copied in a tenth of a second. */
const COPIED_AT_ONCE_BYTES = 32_000_000

/**
 * Compacting copies the whole table, the largest segment included. So that a fold costs what is new, a large table
 * waits until dead bytes equal live ones: the index never takes more than twice its size.
 */
async function compact(
  table: WordTables["blocks"] | WordTables["segments"],
  effort: Effort,
): Promise<MaintenanceReport["steps"]> {
  const { bytes, isRemote } = (await table.statistics()) ?? {}
  const isLarge = isRemote !== true && bytes !== undefined && bytes.live > COPIED_AT_ONCE_BYTES
  if (effort !== "all" && isLarge && bytes.dead < bytes.live) return []
  between("steps")
  return (await table.maintain(effort)).steps
}

interface CoverSegment extends Directory {
  readonly id: string
  readonly from: number
  readonly to: number
  readonly blocks: number
  readonly documents: Documents
}

/**
 * The merge policy: everything from the first segment that is smaller than four times what follows it. One import
 * writes equal shards with a small last one; that one alone does not trigger a merge of all.
 */
function chooseMerge<Covered extends Pick<SegmentFacts, "from" | "to">>(cover: readonly Covered[]): readonly Covered[] {
  let start = cover.length
  let size = 0
  for (const [at, { from, to }] of [...cover.entries()].reverse()) {
    const own = to - from
    if (own < size * GROWTH) start = at
    size += own
  }
  return cover.slice(start)
}

// --- Writing ----------------------------------------------------------------------------------------------------------

interface SegmentWriter {
  add(block: StoredBlock): Promise<void>
  finish(): Promise<CoverSegment>
}

/** A segment depends on its messages alone: every process writes the same bytes under the same name. */
async function writeSegment(
  tables: WordTables,
  { from, to, documents, columns }: Omit<PlacedShard, "blocks">,
): Promise<SegmentWriter> {
  const [last] = await tables.messages.takeByNumber([to - 1], ["session_id", "id"], { withErased: true })
  const lastKey = last === undefined ? PURGED_KEY : keyText(last)
  const id = compressedName(`${from}-${to}-${Bun.hash(lastKey).toString(36)}`)
  let waiting: (StoredBlock & { segment: string; block: number })[] = []
  let blocks = 0
  const flush = async () => {
    await tables.blocks.insertAbsent(waiting)
    waiting = []
    if (blocks >= BLOCKS_AT_ONCE) between("steps")
  }
  return {
    add: async (block) => {
      waiting.push({ segment: id, block: blocks++, ...block })
      if (waiting.length >= BLOCKS_AT_ONCE) await flush()
    },
    finish: async () => {
      await flush()
      await writeDirectory(tables, id, blocks)
      const { count, tokens } = documents
      const facts = { id, from_row: BigInt(from), to_row: BigInt(to), last_key: lastKey, blocks }
      const row = { ...facts, count: BigInt(count), tokens: BigInt(tokens), ...columns }
      await tables.segments.insertAbsent([row])
      // A merge reads attributes again, one at a time.
      for (const name of ATTRIBUTES) dropAttribute(documents, name)
      return { id, from, to, blocks, documents, firstTerms: [], rows: [] }
    },
  }
}

async function writeShard(tables: WordTables, part: PlacedShard): Promise<CoverSegment> {
  const writer = await writeSegment(tables, part)
  for (const block of part.blocks) await writer.add(block)
  return await writer.finish()
}

// --- Merging ----------------------------------------------------------------------------------------------------------

/** False when another process has merged and removed some of them already. */
async function merge(tables: WordTables, parts: readonly CoverSegment[]): Promise<boolean> {
  try {
    await mergeWhole(tables, parts)
    return true
  } catch (error) {
    if (error instanceof SegmentGone) return false
    throw error
  }
}

async function mergeWhole(tables: WordTables, parts: readonly CoverSegment[]): Promise<void> {
  const directories = await scanDirectories(
    tables,
    parts.map(({ id }) => id),
  )
  for (const { id, blocks } of parts) if (directories.get(id)?.rows.length !== blocks) throw new SegmentGone()
  const [first, last] = [parts[0], parts.at(-1)]
  if (first === undefined || last === undefined) return
  const { documents, columns } = await mergeDocuments(tables, parts)
  const writer = await writeSegment(tables, { from: first.from, to: last.to, documents, columns })
  const readers = parts.map(({ id, from }) =>
    readTerms(tables, { id, ...(directories.get(id) ?? { firstTerms: [], rows: [] }) }, from - first.from),
  )
  const numbers = new Uint32Array(documents.size)
  const lists = createBlockWriter()
  const put = async (block: PostingBlock | undefined) => {
    if (block !== undefined) await writer.add(toStoredBlock(block))
  }
  for (const reader of readers) await reader.next()
  for (let least = smallestTerm(readers); least !== undefined; least = smallestTerm(readers)) {
    let count = 0
    for (const reader of readers) {
      if (reader.term !== least) continue
      count += reader.numbers(numbers, count)
      if (!reader.step()) await reader.next()
    }
    await put(lists.add(least, encodePostings(numbers.subarray(0, count), documents.size)))
  }
  await put(lists.finish())
  await writer.finish()
}

/** Merges one attribute at a time: of a million messages all of them are 30 MB, plus as much in the inputs. */
async function mergeDocuments(
  tables: WordTables,
  parts: readonly CoverSegment[],
): Promise<Pick<PlacedShard, "documents" | "columns">> {
  const all = parts.map((part) => part.documents)
  const documents = joinDocuments(all, [])
  const facets: [AttributeName, Uint8Array][] = []
  for (const name of ATTRIBUTES) {
    await loadAttributes(tables, parts, [name])
    facets.push([name, compress(attributeBytes(joinDocuments(all, [name]), name))])
    for (const each of all) dropAttribute(each, name)
  }
  const columns = { lengths: compress(lengthBytes(documents)), ...Object.fromEntries(facets) }
  return { documents, columns: columns as PlacedShard["columns"] }
}

function smallestTerm(readers: readonly TermReader[]): string | undefined {
  let least: string | undefined
  for (const { term } of readers) if (term !== undefined && (least === undefined || term < least)) least = term
  return least
}

/** A cursor over the terms of a segment. Moving to the next block is asynchronous. */
interface TermReader {
  /** The current term; undefined at the end. */
  readonly term: string | undefined
  /** Writes the current postings into an array from an index on, and returns how many there are. */
  numbers(into: Uint32Array, place: number): number
  /** False at the end of the block. */
  step(): boolean
  next(): Promise<void>
}

function readTerms(tables: WordTables, segment: Directory & { readonly id: string }, base: number): TermReader {
  const blocks = readBlocks(tables, segment)
  let block: PostingBlock = { terms: [], lists: new Uint8Array() }
  let at = 0
  return {
    get term() {
      return block.terms[at]
    },
    numbers: (into, place) => {
      const list = postingsAt(block, at)
      decodeInto(list, base, into, place)
      return list.count
    },
    step: () => ++at < block.terms.length,
    next: async () => {
      const next = await blocks.next()
      block = next.done === true ? { terms: [], lists: new Uint8Array() } : next.value
      at = 0
    },
  }
}

// --- Removing ---------------------------------------------------------------------------------------------------------

/**
 * Removes segments that a merge has replaced; with effort "all" also the blocks of segments that were never committed.
 */
async function removeMerged(tables: WordTables, effort: Effort): Promise<void> {
  const facts = await readFacts(tables)
  const live = new Set(chooseCover(facts).map(({ id }) => id))
  await removeSegments(
    tables,
    facts.map(({ id }) => id).filter((id) => !live.has(id)),
  )
  if (effort !== "all") return
  const stray = new Set<string>()
  for await (const rows of tables.blocks.batches({ columns: ["segment"], where: eq("block", 0) }))
    for (const { segment } of rows) if (!live.has(segment)) stray.add(segment)
  await removeSegments(tables, [...stray])
}

async function removeSegments(tables: WordTables, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tables.segments.deleteWhere(isIn("id", ids))
  await tables.blocks.deleteWhere(isIn("segment", blockKeys(ids)))
}
