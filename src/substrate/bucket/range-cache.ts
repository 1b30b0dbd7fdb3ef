/**
 * Ranges of objects that never change, each read from the bucket once: in blocks, kept in memory and on the disk
 * (`block-store.ts`). The engine reads a table in many small ranges, most of them close together and at the same time;
 * what is asked for within a moment becomes one request, a small object is read whole, and a reader that goes on where it
 * stopped is read ahead of.
 */
import { LruCache } from "../../platform/lru-cache.ts"
import type { Block, BlockStore } from "./block-store.ts"
import type { OpeningObject } from "./opening.ts"

export interface FetchedRange {
  /** From the asked start on; shorter where the object ends. */
  readonly bytes: Uint8Array
  /** Of the whole object. */
  readonly size: number
}

/** Undefined where there is no such object. */
export type FetchRange = (from: number, to: number) => Promise<FetchedRange | undefined>

export interface RangeCache {
  /** The bytes from a place to the one before another, or to the end; undefined where there is no such object. */
  read(object: string, range: ByteRange, fetch: FetchRange): Promise<FetchedRange | undefined>
  /** Whether a read asks the bucket for nothing. */
  has(object: string, range: ByteRange): boolean
  /** What this process has written itself. */
  keep(object: string, content: Uint8Array): void
  /** Pieces that came by another way (`opening.ts`), in memory alone. */
  hold(object: OpeningObject): void
  clear(): void
}

export interface ByteRange {
  readonly from: number
  readonly to: number
}

const BLOCK_BYTES = 128 * 1024
/** An object of up to so many blocks is read whole. */
const WHOLE_BLOCKS = 12
/** Blocks that nobody asked for are read too where that saves a request. */
const GAP_BLOCKS = 12
const AHEAD_BLOCKS_MAX = 32
/** The engine asks for the columns of a file one after the other, without waiting. */
const GATHER_MS = 4

interface Pending {
  readonly wanted: Set<number>
  readonly done: Promise<void>
}

interface Known {
  size: number | undefined
  /** The block behind the last that was read, and how many were. */
  next: number
  run: number
  gathering: Pending | undefined
  readonly coming: Map<number, Promise<void>>
}

const KNOWN_MAX = 10_000

export function openRangeCache(disk: BlockStore | undefined, memoryBytes: number): RangeCache {
  const blocks = openBlocks(disk, memoryBytes)
  const objects = new LruCache<string, Known>(KNOWN_MAX)
  const held = new Map<string, OpeningObject>()

  const knownOf = (object: string): Known => {
    const known = objects.get(object) ?? { size: undefined, next: -1, run: 0, gathering: undefined, coming: new Map() }
    objects.set(object, known, 1)
    return known
  }

  function heldRange(object: string, { from, to }: ByteRange): FetchedRange | undefined {
    const known = held.get(object)
    const end = Math.min(to, known?.size ?? 0)
    const piece = known?.pieces.findLast((each) => each.from <= from)
    if (known === undefined || piece === undefined || end > piece.from + piece.bytes.length) return undefined
    return { size: known.size, bytes: piece.bytes.subarray(from - piece.from, Math.max(from, end) - piece.from) }
  }

  /** Adds those that are here. Gives those that are not. */
  function collect(object: string, { from, to }: ByteRange, found: Map<number, Block>): number[] {
    const known = knownOf(object)
    const missing: number[] = []
    for (let block = Math.floor(from / BLOCK_BYTES); block < blocksBefore(to, known.size); block++) {
      const own = found.get(block) ?? blocks.find(object, block)
      if (own === undefined) missing.push(block)
      else {
        found.set(block, own)
        known.size = own.size
      }
    }
    return missing.filter((block) => block < blocksBefore(to, known.size))
  }

  /** Fetches blocks, or waits for them where somebody else does. Whether the object is there. */
  async function bring(object: string, wanted: readonly number[], fetchRange: FetchRange): Promise<boolean> {
    const known = knownOf(object)
    const coming = wanted.flatMap((block) => known.coming.get(block) ?? [])
    const rest = wanted.filter((block) => !known.coming.has(block))
    const fetched: FetchRange = async (from, to) => {
      const range = await fetchRange(from, to)
      if (range === undefined) throw new ObjectGone()
      known.size = range.size
      blocks.putAll(object, from / BLOCK_BYTES, range)
      return range
    }
    try {
      await Promise.all([...coming, ...(rest.length === 0 ? [] : [gather(known, rest, fetched)])])
      return true
    } catch (error) {
      if (error instanceof ObjectGone) return false
      throw error
    }
  }

  return {
    read: async (object, range, fetchRange) => {
      const { from, to } = range
      const own = heldRange(object, range)
      if (own !== undefined) return own
      const found = new Map<number, Block>()
      let missing = collect(object, range, found)
      if (missing.length > 0 || knownOf(object).size === undefined) {
        if (!(await bring(object, missing, fetchRange))) return undefined
        missing = collect(object, range, found)
      }
      const { size } = knownOf(object)
      // What was just read may be too much for the memory: then it is read for this answer alone.
      if (missing.length > 0 || size === undefined) return await fetchRange(from, to)
      return { size, bytes: joined(found, from, Math.min(to, size)) }
    },
    has: (object, range) => {
      if (heldRange(object, range) !== undefined) return true
      return collect(object, range, new Map()).length === 0 && knownOf(object).size !== undefined
    },
    hold: (object) => {
      held.set(object.name, object)
      knownOf(object.name).size = object.size
    },
    keep: (object, content) => {
      knownOf(object).size = content.length
      blocks.putAll(object, 0, { bytes: content, size: content.length })
    },
    clear: () => {
      held.clear()
      objects.clear()
      blocks.clear()
    },
  }
}

function blocksBefore(to: number, size: number | undefined): number {
  return Math.ceil(Math.min(to, size ?? to) / BLOCK_BYTES)
}

/** In memory, and on the disk where there is a place for them. */
function openBlocks(disk: BlockStore | undefined, memoryBytes: number) {
  const memory = new LruCache<string, Block>(memoryBytes)
  return {
    find: (object: string, block: number): Block | undefined => {
      const name = `${block} ${object}`
      const known = memory.get(name)
      if (known !== undefined) return known
      const onDisk = disk?.get(object, block)
      if (onDisk !== undefined) memory.set(name, onDisk, onDisk.bytes.length)
      return onDisk
    },
    putAll: (object: string, first: number, { bytes, size }: FetchedRange): void => {
      for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
        // A copy: a view would keep all of what was fetched in memory.
        const own = bytes.slice(from, from + BLOCK_BYTES)
        const isWhole = own.length === BLOCK_BYTES || first * BLOCK_BYTES + from + own.length === size
        if (!isWhole) continue
        const at = first + from / BLOCK_BYTES
        memory.set(`${at} ${object}`, { size, bytes: own }, own.length)
        disk?.set(object, at, { size, bytes: own })
      }
    },
    clear: () => {
      memory.clear()
      disk?.clear()
    },
  }
}

/** Fetches blocks together with whatever else is asked of the object within a moment. */
function gather(known: Known, wanted: readonly number[], fetchRange: FetchRange): Promise<void> {
  if (known.gathering === undefined) {
    const own = new Set<number>()
    const done = Bun.sleep(GATHER_MS).then(async () => {
      known.gathering = undefined
      await Promise.all(joinBlocks([...own], known).map((run) => fetchRun(known, run, fetchRange)))
    })
    known.gathering = { wanted: own, done }
  }
  for (const block of wanted) known.gathering.wanted.add(block)
  return known.gathering.done
}

async function fetchRun(known: Known, [first, last]: Run, fetchRange: FetchRange): Promise<void> {
  const own = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const coming = fetchRange(first * BLOCK_BYTES, (last + 1) * BLOCK_BYTES).then(() => undefined)
  for (const block of own) known.coming.set(block, coming)
  try {
    await coming
  } finally {
    for (const block of own) known.coming.delete(block)
  }
}

class ObjectGone extends Error {}

/** First and last block. */
type Run = readonly [first: number, last: number]

/** Few requests for these blocks, which may bring others too. */
function joinBlocks(wanted: readonly number[], known: Known): readonly Run[] {
  const end = known.size === undefined ? undefined : Math.ceil(known.size / BLOCK_BYTES)
  if (end !== undefined && end <= WHOLE_BLOCKS) return [[0, end - 1]]
  const runs: [number, number][] = []
  for (const block of wanted.toSorted((one, other) => one - other)) {
    const last = runs.at(-1)
    if (last !== undefined && block - last[1] <= GAP_BLOCKS) last[1] = block
    else runs.push([block, block])
  }
  const [first] = runs
  // The engine reads the end of a file first: of a small one that is nearly all.
  if (first !== undefined && end === undefined && first[0] < WHOLE_BLOCKS) first[0] = 0
  const last = runs.at(-1)
  if (last !== undefined) {
    const own = last[1] - last[0] + 1
    const isGoingOn = runs[0]?.[0] === known.next
    known.run = isGoingOn ? Math.min(AHEAD_BLOCKS_MAX, known.run * 2) : own
    if (isGoingOn) last[1] = Math.max(last[1], last[0] + known.run - 1)
    if (end !== undefined) last[1] = Math.min(last[1], end - 1)
    known.next = last[1] + 1
  }
  return runs
}

function joined(found: ReadonlyMap<number, Block>, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(Math.max(0, to - from))
  for (let at = from; at < to; ) {
    const block = Math.floor(at / BLOCK_BYTES)
    const begin = at - block * BLOCK_BYTES
    const own = found.get(block)?.bytes.subarray(begin, begin + to - at) ?? new Uint8Array()
    if (own.length === 0) throw new Error("a block of a cached object is shorter than it says")
    bytes.set(own, at - from)
    at += own.length
  }
  return bytes
}
