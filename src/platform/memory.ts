/**
 * Decides when memory is given back: the only caller of the garbage collector and of the C library's `malloc_trim`.
 * Stages report what they made and dropped (a ledger), and where one kind of work ends (`between`); this module decides.
 *
 * The runtime collects by itself once as much was made as is held, and takes its measure from the memory of the machine:
 * a process that holds 300 MB grows to 600. The C library keeps what native code has freed, in an arena for each thread:
 * an import that has sorted an index would stay as large as its largest moment.
 *
 * Each thread has its own ledger, because each has its own heap.
 */
import { edenGC, fullGC, gcAndSweep } from "bun:jsc"
import { lazy } from "./lazy.ts"
import { libcPath } from "./native/libc.ts"

// --- Ledgers --------------------------------------------------------------------------------------------------------

/**
 * What a stage makes and drops. Each kind is collected after so many bytes; the numbers are measured.
 *
 * `reuse` collects for what the same stage makes next. `return` gives memory back to the machine as well, and takes two to
 * three times as long: `Bun.gc(true)` also drops the bytecode of every function that does not run at that moment, which is
 * made again afterwards. Of the 9.2 s of processor time of an import of 163 MB, `reuse` between its flushes saves 0.3, in
 * as much memory.
 */
const GARBAGE = {
  /** Columns that were read from the store and compared. */
  columns: { everyBytes: 32_000_000, collects: "return", trims: false },
  /**
   * Records and columns of one log that is parsed in its own thread; the main thread needs as much room to write them. A
   * ledger for each log: collected across a thousand small ones, they took 8.3 s instead of 6.4, for 8 MB.
   */
  parsedLog: { everyBytes: 16_000_000, collects: "return", trims: true },
  /** Rows of many small logs that were written. After every flush, collection took a fifth of the time, for 20 MB less. */
  flushedRows: { everyBytes: 40_000_000, collects: "reuse", trims: false },
  /** Rows of one log that fills a flush alone: collected after every one. */
  flushedLog: { everyBytes: 0, collects: "return", trims: false },
  /** A shard of the word index that was built. What two leave is 180 MB, one 95, and the main thread needs room as well. */
  builtShard: { everyBytes: 0, collects: "reuse", trims: false },
  /** Rows on their way from store to store, or to a file and back. What is given back has to be asked for again. */
  archivedRows: { everyBytes: 24 * 1024 * 1024, collects: "return", trims: true },
} as const satisfies Record<string, GarbagePolicy>

type Collection = "reuse" | "return"

interface GarbagePolicy {
  readonly everyBytes: number
  readonly collects: Collection
  /** Whether what native code freed is given back with it. */
  readonly trims: boolean
}

export interface Ledger {
  /** About so many bytes were made and dropped. */
  made(bytes: number): void
}

export function openLedger(kind: keyof typeof GARBAGE): Ledger {
  const { everyBytes, collects, trims }: GarbagePolicy = GARBAGE[kind]
  let madeBytes = 0
  return {
    made: (bytes) => {
      madeBytes += bytes
      if (madeBytes < everyBytes) return
      madeBytes = 0
      collect(collects)
      if (trims) trimIfGrown()
    },
  }
}

function collect(kind: Collection): void {
  if (kind === "reuse") fullGC()
  else Bun.gc(true)
}

const VALUES_BYTES = 32 * 1024 * 1024
/** Buffers of this size are not freed by a young-generation collection. They are few, so a full one is affordable. */
const LARGE_BYTES = 100_000

let [valueBytes, valuePieces] = [0, 0]

/**
 * One ledger for all texts and objects that are made and dropped one after the other, as in reading a log: most are young
 * when they die, so a collection of the young generation is enough.
 */
export function madeValues(bytes: number, pieces: number): void {
  valueBytes += bytes
  valuePieces += pieces
  if (valueBytes < VALUES_BYTES) return
  const isLarge = valueBytes > LARGE_BYTES * valuePieces
  ;[valueBytes, valuePieces] = [0, 0]
  if (isLarge) gcAndSweep()
  else edenGC()
}

// --- Boundaries -----------------------------------------------------------------------------------------------------

/**
 * Where one kind of work ends and another begins:
 * - `commits`: native code has freed what it needed to encode and commit rows. There is no garbage of JavaScript.
 * - `steps`: a step of a long task is done, and left garbage.
 * - `stages`: a stage is done whose memory would stand beside what the next one needs: its key sets and the buffers of its
 *   threads made 555 MiB where the indexes begin after an import, and 435 MiB when they were given back first.
 * - `passes`: the same data is gone through once more in another form. Nothing happens in a small process, nor where little
 *   came since the last time: a server that holds much for good would pay half a second for each restore of a few lines.
 */
export type Boundary = "commits" | "steps" | "stages" | "passes"

export function between(boundary: Boundary): void {
  if (boundary === "passes" && !isGrownSincePass()) return
  if (boundary === "stages" && process.memoryUsage.rss() < WORTH_STAGING_BYTES) return
  // Garbage first: the native memory that it holds is freed with it.
  if (boundary !== "commits") collect(boundary === "steps" ? "reuse" : "return")
  if (boundary === "stages") trim()
  else trimIfGrown()
  if (boundary === "passes") bytesAfterPass = process.memoryUsage.rss()
}

/** A collection of less takes a sixth of the time of a sync of one session that has grown. */
const WORTH_STAGING_BYTES = 200 * 1024 * 1024
const SMALL_PROCESS_BYTES = 300 * 1024 * 1024
/** With three times as much a restore of 100 MB held 530 MB for 450. */
const GROWN_BYTES = 16 * 1024 * 1024

let bytesAfterPass = 0

function isGrownSincePass(): boolean {
  const bytes = process.memoryUsage.rss()
  bytesAfterPass = Math.min(bytesAfterPass, bytes)
  return bytes >= Math.max(SMALL_PROCESS_BYTES, bytesAfterPass + GROWN_BYTES)
}

// --- The C library --------------------------------------------------------------------------------------------------

/** So much more than was left the last time is worth a walk through every arena, while nothing else can allocate there. */
const WORTH_TRIMMING_BYTES = 48 * 1024 * 1024

let bytesAfterTrim = 0

function trimIfGrown(): void {
  if (process.memoryUsage.rss() >= bytesAfterTrim + WORTH_TRIMMING_BYTES) trim()
}

/** Does nothing where the C library is not GNU's. */
function trim(): void {
  gnuLibc()?.malloc_trim(0)
  bytesAfterTrim = process.memoryUsage.rss()
}

const M_ARENA_MAX = -8

/**
 * Limits the arenas of the C library to one for each core. To be called before native threads are started. By default
 * there are eight for each, and what one has freed serves no other: a copy of a million messages held 618 MB instead of
 * 579, and was no faster.
 */
export function limitArenas(): void {
  gnuLibc()?.mallopt(M_ARENA_MAX, Math.max(2, navigator.hardwareConcurrency))
}

const gnuLibc = lazy(() => {
  const libc = libcPath()
  if (libc?.endsWith("/libc.so.6") !== true) return undefined
  const { dlopen, FFIType } = require("bun:ffi") as typeof import("bun:ffi")
  const { symbols } = dlopen(libc, {
    malloc_trim: { args: [FFIType.u64], returns: FFIType.int },
    mallopt: { args: [FFIType.int, FFIType.int], returns: FFIType.int },
  })
  return symbols
})
