/**
 * Loads a model directory with fastembed: its tokenizer with the special tokens, and its ONNX session. fastembed's own
 * `embed()` is not used: it takes the first token's vector for every model and pads each text to 512 tokens
 * (`test/embeddings/fastembed.test.ts` shows both).
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import type { Tokenizer } from "@anush008/tokenizers"
import type { InferenceSession } from "onnxruntime-node"
import { embeddingRuntime } from "./runtime.ts"

export interface LoadedModel {
  readonly tokenizer: Tokenizer
  readonly session: InferenceSession
}

/** What fastembed reads beside the model and its tokenizer, as it is where a model comes without. */
const SMALL_FILES: Readonly<Record<string, string>> = {
  "config.json": `{ "pad_token_id": 0 }`,
  "tokenizer_config.json": `{ "model_max_length": 512 }`,
  "special_tokens_map.json": "{}",
}

/** `file` is the model inside the directory. */
export async function loadModel(directory: string, file: string): Promise<LoadedModel> {
  const missing = Object.keys(SMALL_FILES).filter((name) => !existsSync(join(directory, name)))
  if (missing.length === 0) return await initialize(directory, file)
  const draft = mkdtempSync(join(tmpdir(), "pond-model-"))
  try {
    for (const [name, content] of Object.entries(SMALL_FILES)) {
      if (missing.includes(name)) writeFileSync(join(draft, name), content)
      else copyFileSync(join(directory, name), join(draft, name))
    }
    copyFileSync(join(directory, "tokenizer.json"), join(draft, "tokenizer.json"))
    // The model stays where it is, because it can be gigabytes, and its weights may lie in a file beside it.
    return await initialize(draft, relative(draft, join(directory, file)))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

async function initialize(directory: string, file: string): Promise<LoadedModel> {
  const { EmbeddingModel, FlagEmbedding } = embeddingRuntime().fastembed
  const made = await FlagEmbedding.init({
    model: EmbeddingModel.CUSTOM,
    modelAbsoluteDirPath: directory,
    modelName: file,
    showDownloadProgress: false,
  })
  // Private in its types, and the reason for loading by it.
  const { tokenizer, session } = made as unknown as LoadedModel
  tokenizer.disablePadding()
  tokenizer.disableTruncation()
  return { tokenizer, session }
}
