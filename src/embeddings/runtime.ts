/**
 * Loads the native libraries of embedding, ONNX Runtime and the tokenizers, and fastembed over them, on first use and
 * never at import, so that commands without embeddings pay for none of them.
 */
import { availableParallelism } from "node:os"
import type * as Tokenizers from "@anush008/tokenizers"
import type * as Fastembed from "fastembed"
import type * as OnnxRuntime from "onnxruntime-node"
import { ensureNative } from "../platform/native/native.ts"

export interface EmbeddingRuntime {
  readonly onnx: typeof OnnxRuntime
  readonly tokenizers: typeof Tokenizers
  readonly fastembed: typeof Fastembed
}

let loaded: EmbeddingRuntime | undefined

export function embeddingRuntime(): EmbeddingRuntime {
  if (loaded !== undefined) return loaded
  ensureNative("onnxruntime")
  ensureNative("tokenizers")
  const onnx = require("onnxruntime-node") as typeof OnnxRuntime
  boundThreads(onnx)
  loaded = {
    onnx,
    tokenizers: require("@anush008/tokenizers") as typeof Tokenizers,
    fastembed: require("fastembed") as typeof Fastembed,
  }
  return loaded
}

/**
 * Leaves half of the machine to its user. fastembed passes no thread bounds on, and ONNX Runtime would take every core;
 * so the bounds are set where every session of this process is made, which is the function that fastembed calls too.
 */
function boundThreads({ InferenceSession }: typeof OnnxRuntime): void {
  type Create = (model: unknown, options?: OnnxRuntime.InferenceSession.SessionOptions) => Promise<never>
  const sessions = InferenceSession as unknown as { create: Create }
  const create = sessions.create.bind(InferenceSession)
  const bounds = { intraOpNumThreads: Math.max(1, Math.floor(availableParallelism() / 2)), interOpNumThreads: 1 }
  sessions.create = async (model, options) => await create(model, { ...bounds, ...options })
}
