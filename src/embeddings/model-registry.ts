/**
 * Which model a name means, and how a model is asked: what its own files say, what the registry knows, and what the
 * settings override. Where two of them contradict each other, the model is refused: vectors of a model that is asked
 * wrongly look like any others and find less.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { PondError } from "../model/errors.ts"
import { isJsonObject, type JsonObject, parseJson } from "../model/json.ts"
import { suggestion } from "../platform/nearest.ts"
import { KNOWN_MODELS, type KnownModel, type ModelFacts, type Pooling } from "./known-models.ts"

export function knownModel(name: string): KnownModel | undefined {
  const asked = name.toLowerCase()
  return KNOWN_MODELS.find((model) => [model.name, ...model.aliases].some((each) => each.toLowerCase() === asked))
}

export function unknownModel(name: string): PondError {
  const names = KNOWN_MODELS.map((model) => model.name)
  return new PondError(
    "validation_failed",
    `Unknown model "${name}".${suggestion(name, names)} \`pond embeddings list\` shows the known ones; for any other, name the directory with its model.onnx.`,
    { details: { model: name } },
  )
}

/** What `config.toml` says about the model. */
export interface FactSettings {
  readonly pooling?: Pooling | undefined
  readonly query_prefix?: string | undefined
  readonly passage_prefix?: string | undefined
  readonly max_tokens?: number | undefined
  readonly dimension?: number | undefined
}

export interface AskedModel extends ModelFacts {
  /** Of the stored vectors; undefined where only the model's answer tells. */
  readonly dimension: number | undefined
  /** The vectors are cut to that dimension. */
  readonly isCut: boolean
}

/**
 * Attention takes memory with the square of the length: 3 GB for one text of 8,192 tokens. And a vector of a long text
 * says less of each sentence in it.
 */
const WINDOW_TOKENS_MAX = 512

export function factsOfModel(name: string, directory: string, settings: FactSettings): AskedModel {
  const known = knownModel(name)
  const own = readOwnFacts(directory)
  const pooling = settings.pooling ?? agreed(name, "pooling", own.pooling, known?.pooling)
  if (pooling === undefined) {
    throw new PondError(
      "validation_failed",
      `The registry does not know the model "${name}", and its files do not say how its vectors are pooled. Set embeddings.pooling to "mean", "cls" or "last", as its card says.`,
      { details: { model: name, key: "embeddings.pooling" } },
    )
  }
  const lengths = [own.tokensMax, known?.tokensMax, WINDOW_TOKENS_MAX].filter((each) => each !== undefined)
  return {
    pooling,
    queryPrefix: settings.query_prefix ?? agreed(name, "query_prefix", own.queryPrefix, known?.queryPrefix) ?? "",
    passagePrefix:
      settings.passage_prefix ?? agreed(name, "passage_prefix", own.passagePrefix, known?.passagePrefix) ?? "",
    tokensMax: settings.max_tokens ?? Math.min(...lengths),
    ...dimensionOf(name, known, own.dimension, settings.dimension),
  }
}

function dimensionOf(
  name: string,
  known: KnownModel | undefined,
  own: number | undefined,
  asked: number | undefined,
): Pick<AskedModel, "dimension" | "isCut"> {
  const full = agreed(name, "dimension", own, known?.dimension)
  if (asked === undefined || asked === full) return { dimension: full, isCut: false }
  const cuts = known?.cuts ?? []
  if (cuts.includes(asked)) return { dimension: asked, isCut: true }
  const offered = [full, ...cuts].filter((each) => each !== undefined)
  throw new PondError(
    "validation_failed",
    `The model ${name} has no vectors of ${asked} numbers${offered.length === 0 ? "" : `, but of ${offered.join(", ")}`}. Set embeddings.dimension to one of them, or remove it.`,
    { details: { model: name, key: "embeddings.dimension" } },
  )
}

/** A model's own files count first, and must not contradict what its name stands for. */
function agreed<V extends string | number>(
  name: string,
  key: string,
  own: V | undefined,
  known: V | undefined,
): V | undefined {
  if (own === undefined || known === undefined || own === known) return own ?? known
  throw new PondError(
    "validation_failed",
    `The files of this model say ${key} ${JSON.stringify(own)}, but ${name} has ${JSON.stringify(known)}. If it is ${name}, set embeddings.${key}; if it is another model, set embeddings.model to its own name.`,
    { details: { model: name, key: `embeddings.${key}`, files: own, registry: known } },
  )
}

// --- The model's own files ----------------------------------------------------------------------------------------------

type OwnFacts = Partial<ModelFacts> & { readonly dimension?: number }

const POOLING_MODES: readonly (readonly [key: string, pooling: Pooling])[] = [
  ["pooling_mode_mean_tokens", "mean"],
  ["pooling_mode_cls_token", "cls"],
  ["pooling_mode_lasttoken", "last"],
]

/** As sentence-transformers store pooling, prompts and length, and transformers the dimension. */
export function readOwnFacts(directory: string): OwnFacts {
  const pooling = readJsonFile(directory, "1_Pooling/config.json")
  const chosen = POOLING_MODES.filter(([key]) => pooling[key] === true)
  const { prompts } = readJsonFile(directory, "config_sentence_transformers.json")
  const prompt = (...names: readonly string[]): string | undefined => {
    const said = isJsonObject(prompts) ? names.map((each) => prompts[each]) : []
    // A prompt without a word says as much as no prompt: older files have them for every model.
    return said.find((each) => typeof each === "string" && each !== "") as string | undefined
  }
  const lengths = [
    numberOf(readJsonFile(directory, "tokenizer_config.json")["model_max_length"]),
    numberOf(readJsonFile(directory, "sentence_bert_config.json")["max_seq_length"]),
  ].filter((each) => each !== undefined && each >= 8)
  const facts = {
    pooling: chosen.length === 1 ? chosen[0]?.[1] : undefined,
    queryPrefix: prompt("query"),
    passagePrefix: prompt("passage", "document"),
    tokensMax: lengths.length === 0 ? undefined : Math.min(...(lengths as number[])),
    dimension: positive(readJsonFile(directory, "config.json")["hidden_size"]),
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
}

export function readJsonFile(directory: string, name: string): JsonObject {
  const path = join(directory, name)
  if (!existsSync(path)) return {}
  const parsed = parseJson(readFileSync(path, "utf8"))
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

function positive(value: unknown): number | undefined {
  const found = numberOf(value)
  return found !== undefined && Number.isInteger(found) && found > 0 ? found : undefined
}
