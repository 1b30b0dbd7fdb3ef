/** Node's zlib, loaded at its first use: loading it takes a millisecond, and most commands never need it. */
import type { Transform } from "node:stream"
import { lazy } from "./lazy.ts"

/** Of the ways to decompress zstd the only one with a limit; its declaration lacks it. */
export const zlib = lazy(
  () =>
    require("node:zlib") as {
      readonly zstdDecompressSync: (frames: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array
      readonly createInflateRaw: () => Transform
    },
)
