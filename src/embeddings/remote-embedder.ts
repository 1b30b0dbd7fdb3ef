/**
 * An embedder behind the same interface that asks a server with the embeddings API of OpenAI (`POST /embeddings`), which
 * many servers speak: Ollama, vLLM, LM Studio, and paid ones. Off unless the settings name an endpoint, because every
 * embedded text and every query leaves this machine for it.
 */
import { PondError } from "../model/errors.ts"
import { pause } from "../platform/pause.ts"
import type { Embedder } from "./embedder.ts"

export interface RemoteSettings {
  readonly endpoint: string
  readonly apiKey?: string | undefined
  readonly model: string
  /** Of the stored vectors. Longer ones are cut, for a model that was trained for it. */
  readonly dimension?: number | undefined
  readonly queryPrefix: string
  readonly passagePrefix: string
  readonly tokensMax: number
  readonly requestsPerMinute?: number | undefined
}

export interface RemoteContext {
  readonly signal: AbortSignal
  readonly nowMs: () => number
}

/** Servers take more at once, and answer later then. */
const BATCH_TEXTS = 64
const BATCH_UNITS = 100_000
const WINDOWS_MAX = 8
/** The tokenizer of the server is not known: hardly a text has more tokens than one for two code units. */
const UNITS_PER_TOKEN = 2
const TIMEOUT_MS = 60_000
const ATTEMPTS = 5
/** Of a server that gives no answer at all, which is most likely not there. */
const ATTEMPTS_UNHEARD = 2
const WAIT_FIRST_MS = 1_000
const WAIT_MAX_MS = 60_000
const ANSWER_BYTES_MAX = 200_000_000

/** What the vectors are stored under. The same name on another server can be another model. */
export function remoteModelId({ model, endpoint }: Pick<RemoteSettings, "model" | "endpoint">): string {
  return `${model}@${new URL(endpoint).host}`
}

export async function openRemoteEmbedder(settings: RemoteSettings, context: RemoteContext): Promise<Embedder> {
  assertPrivate(settings.endpoint)
  const ask = createAsker(settings, context)
  const dimension = settings.dimension ?? (await ask([`${settings.queryPrefix}pond`]))[0]?.length ?? 0
  return {
    model: remoteModelId(settings),
    dimension,
    reranks: false,
    // Its tokenizer is not here to tell.
    isForeign: async () => undefined,
    query: async (text) => {
      const [vector] = await ask([`${settings.queryPrefix}${windowsOf(text, settings)[0] ?? ""}`])
      return vector ?? new Float32Array(dimension)
    },
    passages: (texts) => embedPassages(texts, settings, ask),
    tokenVectors: async () => [],
    close: async () => undefined,
  }
}

/** A key or a text that goes over the network in the clear can be read on its way. */
function assertPrivate(endpoint: string): void {
  const { protocol, hostname } = new URL(endpoint)
  const isHere = hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]"
  if (protocol === "https:" || isHere) return
  throw new PondError(
    "validation_failed",
    `The endpoint ${endpoint} would receive stored texts unencrypted. Use https, or a server on this machine.`,
    { details: { key: "embeddings.endpoint" } },
  )
}

type Ask = (inputs: readonly string[]) => Promise<Float32Array[]>

async function embedPassages(texts: readonly string[], settings: RemoteSettings, ask: Ask): Promise<Float32Array[][]> {
  const windows = texts.flatMap((text, at) => windowsOf(text, settings).map((window) => ({ at, window })))
  const vectors: Float32Array[][] = texts.map(() => [])
  for (let from = 0; from < windows.length; ) {
    const batch: (typeof windows)[number][] = []
    for (let units = 0; from < windows.length && batch.length < BATCH_TEXTS; from++) {
      const next = windows[from]
      if (next === undefined || (batch.length > 0 && units + next.window.length > BATCH_UNITS)) break
      units += next.window.length
      batch.push(next)
    }
    const answers = await ask(batch.map(({ window }) => `${settings.passagePrefix}${window}`))
    for (const [index, { at }] of batch.entries()) vectors[at]?.push(answers[index] ?? new Float32Array())
  }
  return vectors
}

function windowsOf(text: string, { tokensMax }: RemoteSettings): string[] {
  const units = tokensMax * UNITS_PER_TOKEN
  const windows: string[] = []
  for (let from = 0; windows.length < WINDOWS_MAX && (from < text.length || from === 0); from += units)
    windows.push(text.slice(from, from + units).toWellFormed())
  return windows
}

// --- Requests -----------------------------------------------------------------------------------------------------------

function createAsker(settings: RemoteSettings, { signal, nowMs }: RemoteContext): Ask {
  const gapMs = settings.requestsPerMinute === undefined ? 0 : 60_000 / settings.requestsPerMinute
  let nextMs = 0
  return async (inputs) => {
    for (let attempt = 1; ; attempt++) {
      const waitMs = nextMs - nowMs()
      if (waitMs > 0) await pause(waitMs, signal)
      nextMs = nowMs() + gapMs
      const answer = await post(settings, inputs, signal)
      if (!("retryMs" in answer)) return answer.vectors
      if (attempt >= (answer.isBusy ? ATTEMPTS : ATTEMPTS_UNHEARD) || signal.aborted)
        throw unavailable(settings, answer.why)
      await pause(Math.min(WAIT_MAX_MS, answer.retryMs ?? WAIT_FIRST_MS * 2 ** (attempt - 1)), signal)
    }
  }
}

type Answered =
  | { readonly vectors: Float32Array[] }
  | { readonly retryMs: number | undefined; readonly why: string; readonly isBusy: boolean }

async function post(settings: RemoteSettings, inputs: readonly string[], signal: AbortSignal): Promise<Answered> {
  const { endpoint, apiKey, model } = settings
  let response: Response
  let text: string
  try {
    response = await fetch(`${endpoint.replace(/\/+$/, "")}/embeddings`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({
        model,
        input: inputs,
        encoding_format: "float",
      }),
      // Another server must not get the key, nor the texts.
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    text = await response.text()
  } catch (cause) {
    if (signal.aborted) throw new PondError("interrupted", "The embedding was stopped.", { cause })
    return { isBusy: false, retryMs: undefined, why: cause instanceof Error ? cause.message : String(cause) }
  }
  if (response.status === 429 || response.status >= 500) {
    const seconds = Number(response.headers.get("retry-after"))
    return { isBusy: true, retryMs: seconds > 0 ? seconds * 1_000 : undefined, why: `it answered ${response.status}` }
  }
  if (!response.ok) throw unavailable(settings, `it answered ${response.status}: ${text.slice(0, 200)}`)
  return { vectors: readVectors(settings, text, inputs.length) }
}

function readVectors(settings: RemoteSettings, text: string, count: number): Float32Array[] {
  const bad = () => unavailable(settings, "its answer is not one of the embeddings API")
  if (text.length > ANSWER_BYTES_MAX) throw bad()
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw bad()
  }
  const rows = isRecord(parsed) && Array.isArray(parsed["data"]) ? parsed["data"] : []
  const vectors: Float32Array[] = []
  for (const [at, row] of rows.entries()) {
    if (!isRecord(row) || !Array.isArray(row["embedding"])) throw bad()
    const index = typeof row["index"] === "number" ? row["index"] : at
    vectors[index] = normalize(row["embedding"].slice(0, settings.dimension))
  }
  const width = vectors[0]?.length ?? 0
  const isRight = width === (settings.dimension ?? width)
  const isWhole =
    isRight && vectors.length === count && width > 0 && vectors.every((vector) => vector?.length === width)
  if (!isWhole || vectors.some((vector) => vector.some((value) => !Number.isFinite(value)))) throw bad()
  return vectors
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function normalize(values: readonly unknown[]): Float32Array {
  const vector = Float32Array.from(values, Number)
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}

function unavailable({ endpoint, model }: RemoteSettings, why: string): PondError {
  return new PondError(
    "storage_unavailable",
    `Cannot embed with ${model} at ${new URL(endpoint).host}: ${why}. Check embeddings.endpoint, embeddings.model and the key, or run \`pond embeddings off\`.`,
    { details: { endpoint: new URL(endpoint).host, model } },
  )
}
