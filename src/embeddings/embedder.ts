/**
 * The embedder: texts in, unit vectors out. Runs an ONNX model from a directory in the layout of sentence-transformers:
 * `model.onnx` (or `onnx/model.onnx`), `tokenizer.json`, and the pooling configuration. Batches hold texts of similar
 * length, are bounded by tokens, and are padded only to their longest text. Knows no store.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Tokenizer } from "@anush008/tokenizers"
import type { InferenceSession, Tensor as OnnxTensor } from "onnxruntime-node"
import { PondError } from "../model/errors.ts"
import type { JsonObject } from "../model/json.ts"
import { isForeign } from "./foreign-language.ts"
import type { Pooling } from "./known-models.ts"
import { loadModel } from "./load-model.ts"
import {
  type AskedModel,
  type FactSettings,
  factsOfModel,
  knownModel,
  numberOf,
  readJsonFile,
} from "./model-registry.ts"
import { type EmbeddingRuntime, embeddingRuntime } from "./runtime.ts"

export interface Embedder {
  /** Stored with every vector, because vectors of different models are not comparable. */
  readonly model: string
  readonly dimension: number
  /** Fast enough to read the best hits again while somebody waits. */
  readonly reranks: boolean
  /**
   * The text is in a language that the model was not made for, or its words are none: its vector says little. Undefined of
   * a model that was made for most languages, and where nobody says for which.
   */
  isForeign(text: string): Promise<boolean | undefined>
  query(text: string): Promise<Float32Array>
  /** One vector per text, or several where it is longer than the model's input. */
  passages(texts: readonly string[]): Promise<Float32Array[][]>
  /** A vector of length one for every token, for late interaction. Texts are cut at so many tokens. */
  tokenVectors(texts: readonly string[], tokensMax: number): Promise<TokenVectors[]>
  close(): Promise<void>
}

export interface TokenVectors {
  readonly count: number
  readonly dimension: number
  /** One vector behind the other. */
  readonly values: Float32Array
}

/** Larger models take seconds for what a small one does in half a second. */
const SMALL_DIMENSION_MAX = 384
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
  readonly facts: AskedModel
  readonly past: PastShape | undefined
  readonly tokenizer: Tokenizer
  readonly session: InferenceSession
  readonly padId: number
}

/** `id` is what the vectors are stored under, where that is not the model's name. */
export async function openEmbedder(
  name: string,
  directory: string,
  settings: FactSettings & { readonly rerank?: boolean | undefined } = {},
  id: string = name,
): Promise<Embedder> {
  const loaded = await load(name, directory, settings)
  const known = knownModel(name)
  try {
    const [first] = await embedWindows(loaded, [await tokensOf(loaded, "", false)])
    const dimension = first?.length ?? 0
    const stated = loaded.facts.dimension
    if (stated !== undefined && stated !== dimension) {
      throw unusable(
        directory,
        `its vectors have ${dimension} numbers, where those of ${name} have ${stated}; set embeddings.model to the model's own name`,
      )
    }
    return {
      model: id,
      dimension,
      reranks: (settings.rerank ?? true) && dimension <= SMALL_DIMENSION_MAX,
      isForeign: async (text) =>
        known === undefined || known.isMultilingual === true ? undefined : await isForeign(loaded.tokenizer, text),
      query: async (text) => {
        const windows = await windowsOf(loaded, loaded.facts.queryPrefix, text)
        const [vector] = await embedWindows(loaded, windows.slice(0, 1))
        return vector ?? new Float32Array(dimension)
      },
      passages: (texts) => embedPassages(loaded, texts),
      tokenVectors: (texts, tokensMax) => embedTokens(loaded, texts, tokensMax),
      close: async () => await loaded.session.release(),
    }
  } catch (cause) {
    await loaded.session.release()
    if (cause instanceof PondError) throw cause
    throw unusable(directory, "it does not behave like an embedding model", cause)
  }
}

// --- Loading ----------------------------------------------------------------------------------------------------------

/** Where exports of a model have it; a quantised one where there is no other. */
const MODEL_FILES = [
  "model.onnx",
  "onnx/model.onnx",
  "model_optimized.onnx",
  "model_quantized.onnx",
  "onnx/model_quantized.onnx",
]

async function load(name: string, directory: string, settings: FactSettings): Promise<Loaded> {
  const file = MODEL_FILES.find((path) => existsSync(join(directory, path)))
  if (file === undefined) throw unusable(directory, `it has no ${MODEL_FILES[0]}`)
  if (!existsSync(join(directory, "tokenizer.json"))) throw unusable(directory, "it has no tokenizer.json")
  const facts = factsOfModel(name, directory, settings)
  const runtime = embeddingRuntime()
  try {
    const config = readJsonFile(directory, "config.json")
    const padId = numberOf(config["pad_token_id"]) ?? 0
    const loaded = await loadModel(directory, file)
    return { runtime, facts, ...loaded, padId, past: pastShape(loaded.session, config) }
  } catch (cause) {
    throw unusable(directory, "its files cannot be loaded", cause)
  }
}

/** A model made from a decoder takes the keys and values of earlier tokens: here there are none, in this shape. */
interface PastShape {
  readonly names: readonly string[]
  readonly heads: number
  readonly width: number
}

function pastShape({ inputNames }: InferenceSession, config: JsonObject): PastShape | undefined {
  const names = inputNames.filter((name) => name.startsWith("past_key_values."))
  const attention = numberOf(config["num_attention_heads"]) ?? 1
  const heads = numberOf(config["num_key_value_heads"]) ?? attention
  const width = numberOf(config["head_dim"]) ?? (numberOf(config["hidden_size"]) ?? 0) / attention
  return names.length === 0 ? undefined : { names, heads, width }
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

/** Each window has the prefix and the special tokens, as a separate text would. */
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
  const { dimension, hidden } = await runModel(loaded, windows)
  return hidden.map((own) => pooled(own, dimension, loaded.facts))
}

async function embedTokens(loaded: Loaded, texts: readonly string[], tokensMax: number): Promise<TokenVectors[]> {
  const windows: Tokens[] = []
  for (const text of texts) {
    const readable = text.slice(0, tokensMax * UNITS_PER_TOKEN_MAX).toWellFormed()
    const tokens = await tokensOf(loaded, readable, false)
    // The last one is the special token behind a text.
    windows.push(tokens.length <= tokensMax ? tokens : [...tokens.slice(0, tokensMax - 1), ...tokens.slice(-1)])
  }
  const order = [...windows.keys()].toSorted(
    (left, right) => (windows[left]?.length ?? 0) - (windows[right]?.length ?? 0),
  )
  const made: TokenVectors[] = []
  for (const run of runsOf(order, (at) => windows[at]?.length ?? 0)) {
    const { dimension, hidden } = await runModel(
      loaded,
      run.map((at) => windows[at] ?? []),
    )
    for (const [index, at] of run.entries()) made[at] = normalizeTokens(hidden[index] ?? new Float32Array(), dimension)
  }
  return made
}

/** Without the special tokens at both ends, which are near to everything. */
function normalizeTokens(hidden: Float32Array, dimension: number): TokenVectors {
  const inner = hidden.length > 2 * dimension ? hidden.slice(dimension, hidden.length - dimension) : hidden.slice()
  const count = inner.length / dimension
  for (let token = 0; token < count; token++) {
    const own = inner.subarray(token * dimension, (token + 1) * dimension)
    let square = 0
    for (const value of own) square += value * value
    const length = Math.sqrt(square) || 1
    for (let at = 0; at < dimension; at++) own[at] = (own[at] as number) / length
  }
  return { count, dimension, values: inner }
}

interface Hidden {
  readonly dimension: number
  /** The vectors of the tokens of each window, without its padding. */
  readonly hidden: readonly Float32Array[]
}

async function runModel(loaded: Loaded, windows: readonly Tokens[]): Promise<Hidden> {
  if (windows.length === 0) return { dimension: 0, hidden: [] }
  const { session, padId } = loaded
  const width = Math.max(1, ...windows.map((tokens) => tokens.length))
  const ids = new BigInt64Array(windows.length * width).fill(BigInt(padId))
  const mask = new BigInt64Array(windows.length * width)
  for (const [row, tokens] of windows.entries()) {
    for (const [at, id] of tokens.entries()) {
      ids[row * width + at] = BigInt(id)
      mask[row * width + at] = 1n
    }
  }
  const answer = await session.run(feedsOf(loaded, ids, mask, [windows.length, width]))
  const output = answer["last_hidden_state"] ?? answer["token_embeddings"] ?? answer[session.outputNames[0] ?? ""]
  const dimension = output?.dims[2] ?? 0
  const hidden = output?.data
  if (!(hidden instanceof Float32Array) || hidden.length !== windows.length * width * dimension || dimension === 0)
    throw new Error("the model gives no vector for each token")
  const own = windows.map((tokens, row) => {
    const from = row * width * dimension
    return hidden.subarray(from, from + Math.max(1, tokens.length) * dimension)
  })
  return { dimension, hidden: own }
}

/** What the model asks for, and no more. */
function feedsOf(
  { session, runtime, past }: Loaded,
  ids: BigInt64Array,
  mask: BigInt64Array,
  shape: readonly [rows: number, width: number],
): Record<string, OnnxTensor> {
  const { Tensor } = runtime.onnx
  const [rows, width] = shape
  const all: Record<string, () => BigInt64Array> = {
    input_ids: () => ids,
    attention_mask: () => mask,
    token_type_ids: () => new BigInt64Array(ids.length),
    position_ids: () => BigInt64Array.from({ length: ids.length }, (_, at) => BigInt(at % width)),
  }
  const feeds = Object.entries(all)
    .filter(([name]) => session.inputNames.includes(name))
    .map(([name, values]): [string, OnnxTensor] => [name, new Tensor("int64", values(), [...shape])])
  const earlier = (past?.names ?? []).map((name): [string, OnnxTensor] => [
    name,
    new Tensor("float32", new Float32Array(), [rows, past?.heads ?? 0, 0, past?.width ?? 0]),
  ])
  return Object.fromEntries([...feeds, ...earlier])
}

/** One vector of length one for a text. A cut vector is the beginning of the whole one (Matryoshka). */
function pooled(hidden: Float32Array, dimension: number, { pooling, isCut, dimension: cut }: AskedModel): Float32Array {
  const whole = POOLINGS[pooling](hidden, dimension)
  const vector = isCut ? whole.slice(0, cut) : whole
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}

const POOLINGS: Readonly<Record<Pooling, (hidden: Float32Array, dimension: number) => Float32Array>> = {
  cls: (hidden, dimension) => hidden.slice(0, dimension),
  last: (hidden, dimension) => hidden.slice(hidden.length - dimension),
  mean: (hidden, dimension) => {
    const sum = hidden.slice(0, dimension)
    for (let at = dimension; at < hidden.length; at++) {
      const place = at % dimension
      sum[place] = (sum[place] ?? 0) + (hidden[at] ?? 0)
    }
    return sum
  },
}
