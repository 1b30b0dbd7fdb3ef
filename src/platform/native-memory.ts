/**
 * Memory that native code has freed. The C library keeps it for its next use, in an arena for each thread: an import that
 * has sorted an index, or encoded a large batch, would stay as large as its largest moment.
 */
import { lazy } from "./lazy.ts"
import { libcPath } from "./libc.ts"

/** So much more than was left the last time is worth a walk through every arena, while nothing else can allocate there. */
const WORTH_BYTES = 48 * 1024 * 1024

let leftBytes = 0

/** Gives it back to the machine once there is enough of it. Does nothing where the C library is not GNU's. */
export function returnFreedMemory(): void {
  if (process.memoryUsage.rss() < leftBytes + WORTH_BYTES) return
  trim()?.(0)
  leftBytes = process.memoryUsage.rss()
}

const trim = lazy((): ((keepBytes: number) => number) | undefined => {
  const libc = libcPath()
  if (libc?.endsWith("/libc.so.6") !== true) return undefined
  const { dlopen, FFIType } = require("bun:ffi") as typeof import("bun:ffi")
  return dlopen(libc, { malloc_trim: { args: [FFIType.u64], returns: FFIType.int } }).symbols.malloc_trim
})
