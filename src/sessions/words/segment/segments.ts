/**
 * Reads segments from the store: which of them to use, and what stays in memory. Segments are written once and never
 * changed, so whatever was read stays valid as long as the segment exists. `block-reader.ts` reads their postings.
 */
import { PondError } from "../../../model/errors.ts"
import { eq, isIn } from "../../../substrate/filter.ts"
import type { Table } from "../../../substrate/table.ts"
import type { RowOf } from "../../../substrate/table-definition.ts"
import type { MESSAGES, WORD_BLOCKS, WORD_SEGMENTS } from "../../tables.ts"
import { compare } from "../terms/tokenizer.ts"
import { decompress } from "./compression.ts"
import { type AttributeName, addAttribute, type Documents, hasAttribute, readDocuments } from "./documents.ts"

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

/** The first term and the row number of each posting block of a segment. */
export interface Directory {
  readonly firstTerms: readonly string[]
  readonly rows: readonly number[]
}

export interface LoadedSegment extends SegmentFacts, Directory {
  readonly documents: Documents
}

/** Thrown when a segment or block has disappeared. The snapshot must be refreshed. */
export class SegmentGone extends Error {}

export const FACT_COLUMNS = ["id", "from_row", "to_row", "last_key", "count", "tokens", "blocks"] as const

export async function readFacts(tables: WordTables): Promise<SegmentFacts[]> {
  return (await tables.segments.read({ columns: FACT_COLUMNS })).map(toFacts)
}

function toFacts(row: Pick<RowOf<(typeof WORD_SEGMENTS)["columns"]>, (typeof FACT_COLUMNS)[number]>): SegmentFacts {
  return {
    id: row.id,
    from: Number(row.from_row),
    to: Number(row.to_row),
    lastKey: row.last_key,
    count: Number(row.count),
    tokens: Number(row.tokens),
    blocks: row.blocks,
  }
}

interface OpenedSegments {
  readonly facts: readonly SegmentFacts[]
  readonly parts: readonly SegmentColumns[]
  readonly directories: ReadonlyMap<string, Directory>
}

/**
 * Reads what the first search needs of every segment, in parallel: in a new process the latency of a read counts, not
 * its bytes. Opens the messages table meanwhile.
 */
async function openSegments(tables: WordTables, trust: Trust): Promise<OpenedSegments> {
  const [rows, directories] = await Promise.all([
    tables.segments.read({ columns: [...FACT_COLUMNS, "lengths", FIRST_ATTRIBUTE] }),
    trust === "directories" ? readDirectoryRows(tables) : NO_DIRECTORIES,
    tables.messages.version(),
  ])
  return { facts: rows.map(toFacts), parts: rows, directories }
}

type SegmentColumns = Pick<RowOf<(typeof WORD_SEGMENTS)["columns"]>, "id" | "lengths"> & { readonly lane?: Uint8Array }

/** Read with the first query, because ordinary searches exclude sub-agents. */
const FIRST_ATTRIBUTE = "lane"

/**
 * Chooses segments that cover all rows from 0 without gap or overlap, the longest first, so that merged segments win
 * over their inputs. Two processes that fold at once write the same rows twice; one of the two is chosen.
 */
export function chooseCover(all: readonly SegmentFacts[]): SegmentFacts[] {
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

/** Loads those segments that are intact: all their blocks exist, and the last message is the one they name. */
async function loadSegments(
  tables: WordTables,
  facts: readonly SegmentFacts[],
  opened: OpenedSegments | undefined,
  trust: Trust,
): Promise<ReadonlyMap<string, LoadedSegment>> {
  if (facts.length === 0) return new Map()
  const ids = facts.map(({ id }) => id)
  const [parts, directories, lastKeys] = await Promise.all([
    opened?.parts ?? tables.segments.read({ columns: ["id", "lengths"], where: isIn("id", ids) }),
    loadDirectories(tables, ids, trust === "blocks" ? NO_DIRECTORIES : opened?.directories),
    readLastKeys(tables, facts),
  ])
  const byId = new Map(parts.map((row: SegmentColumns) => [row.id, row]))
  const loaded = new Map<string, LoadedSegment>()
  for (const each of facts) {
    const [own, directory] = [byId.get(each.id), directories.get(each.id)]
    const isWhole =
      (directory?.rows.length ?? 0) === each.blocks && (lastKeys.get(each.to - 1) ?? PURGED_KEY) === each.lastKey
    if (own === undefined || !isWhole) continue
    const documents = readDocuments(decompress(each.id, own.lengths), each)
    if (own.lane !== undefined) addAttribute(documents, FIRST_ATTRIBUTE, decompress(each.id, own.lane))
    loaded.set(each.id, { ...each, ...(directory ?? NO_BLOCKS), documents })
  }
  return loaded
}

const NO_DIRECTORIES: ReadonlyMap<string, Directory> = new Map()
const NO_BLOCKS: Directory = { firstTerms: [], rows: [] }

/** What proves that blocks exist: the directory that names them, or finding each one. */
export type Trust = "directories" | "blocks"

/** The cover without damaged segments, which are treated as if they did not exist. */
export async function loadCover(
  tables: WordTables,
  known: ReadonlyMap<string, LoadedSegment>,
  trust: Trust,
): Promise<{ readonly cover: readonly LoadedSegment[]; readonly broken: readonly string[] }> {
  const opened = known.size === 0 ? await openSegments(tables, trust) : undefined
  let facts: readonly SegmentFacts[] = opened?.facts ?? (await readFacts(tables))
  const broken = new Set<string>()
  for (;;) {
    const wanted = chooseCover(facts)
    const missing = wanted.filter(({ id }) => !known.has(id))
    const loaded = await loadSegments(tables, missing, opened, trust)
    const lost = missing.filter(({ id }) => !loaded.has(id))
    if (lost.length === 0)
      return { cover: wanted.flatMap(({ id }) => known.get(id) ?? loaded.get(id) ?? []), broken: [...broken] }
    for (const { id } of lost) broken.add(id)
    facts = facts.filter(({ id }) => !broken.has(id))
  }
}

/** Reads the attributes that are not in memory yet. */
export async function loadAttributes(
  tables: WordTables,
  segments: readonly { readonly id: string; readonly documents: Documents }[],
  names: readonly AttributeName[],
): Promise<void> {
  const lacking = (name: AttributeName) => segments.filter(({ documents }) => !hasAttribute(documents, name))
  const missing = [...new Set(names)].filter((name) => lacking(name).length > 0)
  const ids = [...new Set(missing.flatMap(lacking).map(({ id }) => id))]
  if (ids.length === 0) return
  const rows = await tables.segments.read({ columns: ["id", ...missing], where: isIn("id", ids) })
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const name of missing) {
    for (const { id, documents } of lacking(name)) {
      const own = byId.get(id)?.[name]
      if (own === undefined) throw new SegmentGone()
      addAttribute(documents, name, decompress(id, own))
    }
  }
}

/** In place of the key of a last message that a purge has removed. */
export const PURGED_KEY = ""

/** A message's key as one string. */
export function keyText({ session_id, id }: { readonly session_id: string; readonly id: string }): string {
  return `${session_id.length} ${session_id}${id}`
}

async function readLastKeys(tables: WordTables, facts: readonly SegmentFacts[]): Promise<ReadonlyMap<number, string>> {
  const rows = await tables.messages.takeByNumber(
    facts.map(({ to }) => to - 1),
    ["session_id", "id"],
    { withErased: true },
  )
  return new Map(rows.map((row) => [row.row, keyText(row)]))
}

// --- Directories ------------------------------------------------------------------------------------------------------

/**
 * A segment's directory is a row beside its blocks: collecting it from ten thousand blocks would take a one-shot
 * command as long as the rest of its search. It is written last, so where it exists all blocks do. It has a name of its
 * own because versions without directories count the rows under the segment's name.
 */
export const DIRECTORY_BLOCK = -1
const DIRECTORY = "/directory"

/** The `segment` values of the rows that belong to these segments. */
export function blockKeys(ids: readonly string[]): string[] {
  return ids.flatMap((id) => [id, `${id}${DIRECTORY}`])
}

export async function writeDirectory(tables: WordTables, segment: string, blocks: number): Promise<void> {
  const { firstTerms, rows } =
    (await takeLastDirectory(tables, segment, blocks)) ?? (await scanDirectory(tables, segment))
  const lists = new Uint8Array(Float64Array.from(rows).buffer)
  await tables.blocks.insertAbsent([
    { segment: `${segment}${DIRECTORY}`, block: DIRECTORY_BLOCK, first_term: "", terms: firstTerms.join("\n"), lists },
  ])
}

/**
 * Reads the directory from the last rows of the table, which are its blocks unless another process folds too. Avoids a
 * scan.
 */
async function takeLastDirectory(tables: WordTables, segment: string, blocks: number): Promise<Directory | undefined> {
  const reach = await tables.blocks.nextRowNumber()
  const places = Array.from({ length: Math.min(blocks, reach) }, (_, place) => reach - 1 - place)
  const last = await tables.blocks.takeByNumber(places, ["segment", "block", "first_term"])
  if (last.length !== blocks || last.some((row) => row.segment !== segment)) return undefined
  const ordered = last.toSorted((one, other) => one.block - other.block)
  return { firstTerms: ordered.map(({ first_term }) => first_term), rows: ordered.map(({ row }) => row) }
}

async function scanDirectory(tables: WordTables, segment: string): Promise<Directory> {
  return (await scanDirectories(tables, [segment])).get(segment) ?? NO_BLOCKS
}

async function readDirectoryRows(tables: WordTables): Promise<ReadonlyMap<string, Directory>> {
  const where = eq("block", DIRECTORY_BLOCK)
  const rows = await tables.blocks.read({ columns: ["segment", "terms", "lists"], where })
  return new Map(
    rows.map(({ segment, terms, lists }) => [
      segment.slice(0, -DIRECTORY.length),
      { firstTerms: terms.split("\n"), rows: [...new Float64Array(lists.slice().buffer)] },
    ]),
  )
}

/** Segments written before directories existed are scanned for their blocks. */
async function loadDirectories(
  tables: WordTables,
  ids: readonly string[],
  known: ReadonlyMap<string, Directory> | undefined,
): Promise<ReadonlyMap<string, Directory>> {
  const written = known ?? (await readDirectoryRows(tables))
  const others = ids.filter((id) => !written.has(id))
  return others.length === 0 ? written : new Map([...written, ...(await scanDirectories(tables, others))])
}

export async function scanDirectories(
  tables: WordTables,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Directory>> {
  const places = new Map<string, { block: number; first: string; row: number }[]>(ids.map((id) => [id, []]))
  const columns = ["segment", "block"] as const
  const request = { from: 0, columns, text: "first_term" as const, where: isIn("segment", ids) }
  for await (const { rows, numbers, text } of tables.blocks.scanByNumber(request)) {
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

export function indexChangedError(): PondError {
  return new PondError("conflict", "The word index is being rebuilt. Try again.")
}
