/**
 * The embedder: texts in, unit vectors out. Runs an ONNX model from a directory in the layout of sentence-transformers:
 * `model.onnx` (or `onnx/model.onnx`), `tokenizer.json`, and the pooling configuration. Batches hold texts of similar
 * length, are bounded by tokens, and are padded only to their longest text. Knows no store.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tokenizer } from "@anush008/tokenizers"
import type { InferenceSession } from "onnxruntime-node"
import { PondError } from "../model/errors.ts"
import { isJsonObject, type JsonObject, parseJson } from "../model/json.ts"
import { loadModel } from "./load-model.ts"
import { factsOfModel, type ModelFacts } from "./model-registry.ts"
import { type EmbeddingRuntime, embeddingRuntime } from "./runtime.ts"

export interface Embedder {
  /** Stored with every vector, because vectors of different models are not comparable. */
  readonly model: string
  readonly dimension: number
  query(text: string): Promise<Float32Array>
  /** One vector per text, or several where it is longer than the model's input. */
  passages(texts: readonly string[]): Promise<Float32Array[][]>
  close(): Promise<void>
}

/** Larger batches need more memory and are not faster. */
const TOKENS_PER_RUN = 2_048
/** Windows per text. Its beginning says what a longer text is about. */
const WINDOWS_MAX = 8
/** Windows overlap, so that a sentence cut by one is whole in the next. */
const OVERLAP_SHARE = 1 / 8
/** No tokenizer produces fewer tokens than one per this many code units. */
const UNITS_PER_TOKEN_MAX = 16

interface Loaded {
  readonly runtime: EmbeddingRuntime
  readonly facts: ModelFacts
  readonly tokenizer: Tokenizer
  readonly session: InferenceSession
  readonly padId: number
}

export async function openEmbedder(name: string, directory: string): Promise<Embedder> {
  const loaded = await load(name, directory)
  try {
    const [first] = await embedWindows(loaded, [await tokensOf(loaded, "", false)])
    const dimension = first?.length ?? 0
    return {
      model: name,
      dimension,
      query: async (text) => {
        const windows = await windowsOf(loaded, loaded.facts.queryPrefix, text)
        const [vector] = await embedWindows(loaded, windows.slice(0, 1))
        return vector ?? new Float32Array(dimension)
      },
      passages: (texts) => embedPassages(loaded, texts),
      close: async () => await loaded.session.release(),
    }
  } catch (cause) {
    await loaded.session.release()
    throw unusable(directory, "it does not behave like an embedding model", cause)
  }
}

// --- Loading ----------------------------------------------------------------------------------------------------------

const MODEL_FILES = ["model.onnx", "onnx/model.onnx", "model_optimized.onnx"]

async function load(name: string, directory: string): Promise<Loaded> {
  const file = MODEL_FILES.find((path) => existsSync(join(directory, path)))
  if (file === undefined) throw unusable(directory, `it has no ${MODEL_FILES[0]}`)
  if (!existsSync(join(directory, "tokenizer.json"))) throw unusable(directory, "it has no tokenizer.json")
  const facts = factsOfModel(name, ownFacts(directory))
  const runtime = embeddingRuntime()
  try {
    const padId = numberOf(readJsonFile(directory, "config.json")["pad_token_id"]) ?? 0
    return { runtime, facts, ...(await loadModel(directory, file)), padId }
  } catch (cause) {
    throw unusable(directory, "its files cannot be loaded", cause)
  }
}

/** Pooling as sentence-transformers store it, and input length as tokenizers do. */
function ownFacts(directory: string): Partial<ModelFacts> {
  const pooling = readJsonFile(directory, "1_Pooling/config.json")
  const length = numberOf(readJsonFile(directory, "tokenizer_config.json")["model_max_length"])
  return {
    ...(pooling["pooling_mode_cls_token"] === true ? { pooling: "cls" as const } : {}),
    ...(length !== undefined && length >= 8 && length <= 8_192 ? { tokensMax: length } : {}),
  }
}

function readJsonFile(directory: string, name: string): JsonObject {
  const path = join(directory, name)
  if (!existsSync(path)) return {}
  const parsed = parseJson(readFileSync(path, "utf8"))
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

function unusable(directory: string, why: string, cause?: unknown): PondError {
  return new PondError(
    "validation_failed",
    `The embedding model in ${directory} cannot be used: ${why}. Point embeddings.directory at a model exported to ONNX, with its tokenizer.json.`,
    { details: { directory }, ...(cause === undefined ? {} : { cause }) },
  )
}

// --- Windows ----------------------------------------------------------------------------------------------------------

type Tokens = readonly number[]

async function tokensOf({ tokenizer }: Loaded, text: string, isBare: boolean): Promise<number[]> {
  return (await tokenizer.encode(text, null, { addSpecialTokens: !isBare })).getIds()
}

/** Each window has the prefix and the special tokens, like a text of its own. */
async function windowsOf(loaded: Loaded, prefix: string, text: string): Promise<Tokens[]> {
  const { tokensMax } = loaded.facts
  const readable = text.slice(0, tokensMax * WINDOWS_MAX * UNITS_PER_TOKEN_MAX).toWellFormed()
  const whole = await tokensOf(loaded, `${prefix}${readable}`, false)
  if (whole.length <= tokensMax) return [whole]
  const frame = await tokensOf(loaded, prefix, false)
  const bare = await tokensOf(loaded, readable, true)
  const room = tokensMax - frame.length
  const step = Math.max(1, Math.floor(room * (1 - OVERLAP_SHARE)))
  const windows: Tokens[] = []
  for (let from = 0; from < bare.length && windows.length < WINDOWS_MAX; from += step) {
    windows.push([...frame.slice(0, -1), ...bare.slice(from, from + room), ...frame.slice(-1)])
    if (from + room >= bare.length) break
  }
  return windows
}

async function embedPassages(loaded: Loaded, texts: readonly string[]): Promise<Float32Array[][]> {
  const windows: { readonly text: number; readonly tokens: Tokens }[] = []
  for (const [text, content] of texts.entries())
    for (const tokens of await windowsOf(loaded, loaded.facts.passagePrefix, content)) windows.push({ text, tokens })
  const vectors: Float32Array[][] = texts.map(() => [])
  const order = [...windows.keys()].toSorted(
    (left, right) => (windows[left]?.tokens.length ?? 0) - (windows[right]?.tokens.length ?? 0),
  )
  const made: Float32Array[] = []
  for (const run of runsOf(order, (at) => windows[at]?.tokens.length ?? 0)) {
    const answers = await embedWindows(
      loaded,
      run.map((at) => windows[at]?.tokens ?? []),
    )
    for (const [index, at] of run.entries()) made[at] = answers[index] ?? new Float32Array()
  }
  for (const [at, { text }] of windows.entries()) vectors[text]?.push(made[at] ?? new Float32Array())
  return vectors
}

/** Takes texts shortest first, so the last of a batch sets its padding. */
function runsOf(order: readonly number[], lengthOf: (at: number) => number): number[][] {
  const runs: number[][] = []
  for (const at of order) {
    const run = runs.at(-1)
    if (run !== undefined && (run.length + 1) * lengthOf(at) <= TOKENS_PER_RUN) run.push(at)
    else runs.push([at])
  }
  return runs
}

// --- The model --------------------------------------------------------------------------------------------------------

async function embedWindows(loaded: Loaded, windows: readonly Tokens[]): Promise<Float32Array[]> {
  if (windows.length === 0) return []
  const { session, runtime, padId, facts } = loaded
  const width = Math.max(1, ...windows.map((tokens) => tokens.length))
  const ids = new BigInt64Array(windows.length * width).fill(BigInt(padId))
  const mask = new BigInt64Array(windows.length * width)
  for (const [row, tokens] of windows.entries()) {
    for (const [at, id] of tokens.entries()) {
      ids[row * width + at] = BigInt(id)
      mask[row * width + at] = 1n
    }
  }
  const tensor = (values: BigInt64Array) => new runtime.onnx.Tensor("int64", values, [windows.length, width])
  const all = { input_ids: ids, attention_mask: mask, token_type_ids: new BigInt64Array(ids.length) }
  const feeds = Object.fromEntries(
    Object.entries(all)
      .filter(([name]) => session.inputNames.includes(name))
      .map(([name, values]) => [name, tensor(values)]),
  )
  const answer = await session.run(feeds)
  const output = answer["last_hidden_state"] ?? answer["token_embeddings"] ?? answer[session.outputNames[0] ?? ""]
  const dimension = output?.dims[2] ?? 0
  const hidden = output?.data
  if (!(hidden instanceof Float32Array) || hidden.length !== windows.length * width * dimension || dimension === 0)
    throw new Error("the model gives no vector for each token")
  return windows.map((tokens, row) => {
    const from = row * width * dimension
    return pooled(hidden.subarray(from, from + Math.max(1, tokens.length) * dimension), dimension, facts.pooling)
  })
}

function pooled(hidden: Float32Array, dimension: number, pooling: ModelFacts["pooling"]): Float32Array {
  const vector = Float32Array.from(hidden.subarray(0, dimension))
  if (pooling === "mean")
    for (let at = dimension; at < hidden.length; at++) {
      const place = at % dimension
      vector[place] = (vector[place] ?? 0) + (hidden[at] ?? 0)
    }
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}
