/**
 * Loads the native libraries of embedding, ONNX Runtime and the tokenizers, on first use and never at import, so that
 * commands without embeddings pay for neither. fastembed is not used: its loader cannot bound threads, downloads
 * without a checksum, and pads every text to 512 tokens.
 */
import type * as Tokenizers from "@anush008/tokenizers"
import type * as OnnxRuntime from "onnxruntime-node"
import { ensureNative } from "../platform/native/native.ts"

export interface EmbeddingRuntime {
  readonly onnx: typeof OnnxRuntime
  readonly tokenizers: typeof Tokenizers
}

let loaded: EmbeddingRuntime | undefined

export function embeddingRuntime(): EmbeddingRuntime {
  if (loaded !== undefined) return loaded
  ensureNative("onnxruntime")
  ensureNative("tokenizers")
  loaded = {
    onnx: require("onnxruntime-node") as typeof OnnxRuntime,
    tokenizers: require("@anush008/tokenizers") as typeof Tokenizers,
  }
  return loaded
}
