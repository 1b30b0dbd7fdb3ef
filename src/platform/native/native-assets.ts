/**
 * The native libraries that this executable carries, by name. Empty here, where the packages of the project hold them:
 * the build puts the table of its target in the place of this module (`build/release/embed.ts`).
 */
export type NativeName = "lance" | "onnxruntime" | "tokenizers" | "duckdb"

export interface EmbeddedFile {
  readonly name: string
  /** The length of the file itself. */
  readonly bytes: number
  readonly sha256: string
  /** Where the compressed bytes lie inside the executable. */
  readonly asset: string
  /** The lengths of the zstd frames in there, one behind the other: each is decompressed alone, so memory stays small. */
  readonly frames: readonly number[]
}

export interface EmbeddedNative {
  /** The npm package it comes from, `name@version`. */
  readonly origin: string
  /** A hash of all its files: the name of its directory in the cache. */
  readonly contentHash: string
  /** The addon that is loaded; or the WebAssembly that stands in for it, which is used in memory and never on disk. */
  readonly addon: EmbeddedFile
  readonly isWebAssembly: boolean
  /** The libraries that the addon expects beside it. */
  readonly beside: readonly EmbeddedFile[]
}

export const EMBEDDED_NATIVES: Readonly<Partial<Record<NativeName, EmbeddedNative>>> = {}
