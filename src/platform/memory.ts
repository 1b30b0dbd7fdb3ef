/**
 * Memory that native code has freed. The C library keeps it for its next use, in an arena for each thread: an import that
 * has sorted an index, or encoded a large batch, would stay as large as its largest moment.
 */
import { edenGC, gcAndSweep } from "bun:jsc"
import { lazy } from "./lazy.ts"
import { libcPath } from "./native/libc.ts"

/** So much more than was left the last time is worth a walk through every arena, while nothing else can allocate there. */
const WORTH_BYTES = 48 * 1024 * 1024

let leftBytes = 0

/** Gives it back to the machine once there is enough of it. Does nothing where the C library is not GNU's. */
export function returnFreedMemory(): void {
  if (process.memoryUsage.rss() >= leftBytes + WORTH_BYTES) returnAllFreedMemory()
}

/** The same at once: where one work ends and another begins, which needs other memory. */
function returnAllFreedMemory(): void {
  gnu()?.malloc_trim(0)
  leftBytes = process.memoryUsage.rss()
}

/** Garbage first: what it holds outside of this language is freed with it. For where one kind of work leaves much behind. */
export function giveBackMemory(): void {
  Bun.gc(true)
  returnFreedMemory()
}

/** The same at once. */
export function giveBackAllMemory(): void {
  Bun.gc(true)
  returnAllFreedMemory()
}

/** Until so much was made, nothing of it is looked at. */
const MADE_BYTES = 32 * 1024 * 1024
/** Pieces as large lie outside of what a small collection frees. A whole one costs more, and there are few of them. */
const LARGE_BYTES = 100_000

let [madeBytes, madePieces] = [0, 0]

/**
 * For work that makes much and lets it go at once, a piece after the other: says how much was made, and in how many pieces.
 * By itself the runtime collects when as much was made as is held, so that a process that holds 300 MB takes 600.
 */
export function collectMade(bytes: number, pieces: number): void {
  madeBytes += bytes
  madePieces += pieces
  if (madeBytes < MADE_BYTES) return
  const isLarge = madeBytes > LARGE_BYTES * madePieces
  ;[madeBytes, madePieces] = [0, 0]
  if (isLarge) gcAndSweep()
  else edenGC()
}

const MUCH_BYTES = 300 * 1024 * 1024
/** With three times as much a restore of 100 MB held 530 MB for 450. */
const GROWN_BYTES = 16 * 1024 * 1024

let settledBytes = 0

/**
 * Between two kinds of work, of which the first has made much that the second needs no more. Nothing where it was little,
 * or where little came since the last time: a process that holds much for good, as a server does, would pay half a second
 * for each restore of a few lines.
 */
export function settleMemory(): void {
  const bytes = process.memoryUsage.rss()
  settledBytes = Math.min(settledBytes, bytes)
  if (bytes < Math.max(MUCH_BYTES, settledBytes + GROWN_BYTES)) return
  giveBackMemory()
  settledBytes = process.memoryUsage.rss()
}

const M_ARENA_MAX = -8

/**
 * To be called before native threads are started. The library would make eight arenas for each core, and what one of them
 * has freed serves no other: a copy of a million messages held 618 MB, and 579 MB with one for each core, as fast.
 */
export function limitArenas(): void {
  gnu()?.mallopt(M_ARENA_MAX, Math.max(2, navigator.hardwareConcurrency))
}

const gnu = lazy(() => {
  const libc = libcPath()
  if (libc?.endsWith("/libc.so.6") !== true) return undefined
  const { dlopen, FFIType } = require("bun:ffi") as typeof import("bun:ffi")
  const { symbols } = dlopen(libc, {
    malloc_trim: { args: [FFIType.u64], returns: FFIType.int },
    mallopt: { args: [FFIType.int, FFIType.int], returns: FFIType.int },
  })
  return symbols
})
