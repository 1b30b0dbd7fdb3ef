/**
 * Folding: what no segment holds yet becomes a segment, and segments become larger ones as they grow. A segment is merged
 * with those after it once they are a fourth of it together, so that each message is written anew only as often as the
 * store grows fourfold. A merge goes through its segments block by block, in the memory of a few blocks.
 *
 * The row of a segment is its commit: blocks without one are of no use to anyone, and are removed with what a merge has
 * replaced. Whoever is killed in between has lost work and nothing else.
 */
import type { Clock } from "../../../platform/host/clock.ts"
import { giveBackAllMemory, giveBackMemory } from "../../../platform/memory.ts"
import { eq, isIn } from "../../../substrate/filter.ts"
import type { Effort } from "../../../substrate/maintain/maintenance-plan.ts"
import type { MaintenanceReport } from "../../../substrate/table.ts"
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
  readBlocks,
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
 * Below so many new messages a search reads them as fast as a segment more. While an import runs nobody needs them folded
 * but who searches meanwhile, and the index stage comes after it.
 */
const TAIL_MIN: Readonly<Record<Effort, number>> = { lookups: 200_000, due: 500, all: 1 }
const GROWTH = 4
const NOTHING: MaintenanceReport = { isBusy: false, steps: [] }
/** So many row numbers are put together at once: about 3 million terms of messages, and 60 MB while it lasts. */
const ROWS_AT_ONCE = 16_384
/** Blocks in one commit: 10 MB or so. */
const BLOCKS_AT_ONCE = 512

/**
 * What so many parts of the newest messages leave behind is cleared away together: each time takes a tenth of a second.
 * Beside an import, which has its own, each part's is: four of them took a log of gigabytes from 430 MB to 690, and the
 * index of an archive of a million messages to 778, where two take 545.
 */
const SHARDS_PER_CLEANUP: Readonly<Record<Effort, number>> = { lookups: 1, due: 2, all: 2 }

/** Folding as an import asks for it, after every flush: what the segments hold is read only when enough may be waiting. */
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
  /** Messages from this row on are in no segment. */
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
  // Fewer messages than are covered: they were healed, and the last segments with them.
  const isDue = effort === "all" || waiting < 0 || waiting >= TAIL_MIN[effort]
  // What was folded while an import ran is merged after it, however little came last.
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
        if (parts % SHARDS_PER_CLEANUP[effort] === 0) giveBackMemory()
      }
    })
  }
  const reached = { isBusy: false, to: cover.at(-1)?.to ?? 0 }
  if (effort === "lookups") return { ...reached, steps }
  const merged = chooseMerge(cover)
  if (merged.length > 1) {
    // The thread that made the parts is gone, and what both of them leave behind is no use to a merge.
    giveBackAllMemory()
    const isMerged = await runStep("optimize", `${merged.length} segments are merged`, () => merge(tables, merged))
    if (!isMerged) return { ...reached, isBusy: true, steps }
  }
  const isChanged = steps.length > 0
  if (isChanged || effort === "all") await removeMerged(tables, effort)
  if (isChanged || effort === "all") {
    for (const table of [tables.blocks, tables.segments]) steps.push(...(await compact(table, effort)))
  }
  giveBackMemory()
  return { ...reached, steps }
}

/** A table of so many bytes is copied in a tenth of a second. */
const COPIED_AT_ONCE_BYTES = 32_000_000

/**
 * Compacting copies all of a table, and with it the largest segment. So that a fold costs what is new, that waits in a
 * large one until as much is dead as lives: the index never takes more than twice its room.
 */
async function compact(
  table: WordTables["blocks"] | WordTables["segments"],
  effort: Effort,
): Promise<MaintenanceReport["steps"]> {
  const bytes = (await table.statistics())?.bytes
  const isLarge = bytes !== undefined && bytes.live > COPIED_AT_ONCE_BYTES
  if (effort !== "all" && isLarge && bytes.dead < bytes.live) return []
  giveBackMemory()
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
 * From the first that is less than fourfold of what comes after it. What came at once lies in equal parts, and the last of
 * them may be small beside the one before it: that says nothing of those before.
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

/** What is in a segment follows from its messages alone, so that whoever writes it writes the same under the same name. */
async function writeSegment(
  tables: WordTables,
  { from, to, documents, columns }: Omit<PlacedShard, "blocks">,
): Promise<SegmentWriter> {
  const [last] = await tables.messages.takeByNumber([to - 1], ["session_id", "id"])
  if (last === undefined) throw new SegmentGone()
  const lastKey = keyText(last)
  const id = compressedName(`${from}-${to}-${Bun.hash(lastKey).toString(36)}`)
  let waiting: (StoredBlock & { segment: string; block: number })[] = []
  let blocks = 0
  const flush = async () => {
    await tables.blocks.insertAbsent(waiting)
    waiting = []
    if (blocks >= BLOCKS_AT_ONCE) giveBackMemory()
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
      // A merge reads again what it needs of them, one after the other.
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

/** False where another process has merged some of them already, and taken them away. */
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

/** A facet after the other: of a million messages all of them are 30 MB, and as much again in the parts. */
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

/** Goes through the terms of a segment. Between two blocks it has to wait. */
interface TermReader {
  /** Where it stands; nothing behind the last. */
  readonly term: string | undefined
  /** Into an array from a place on; how many there were. */
  numbers(into: Uint32Array, place: number): number
  /** False where the block is at its end. */
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

/** What a longer segment has replaced; and, when all is asked for, blocks of segments that were never finished. */
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
