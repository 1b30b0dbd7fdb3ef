/**
 * Known embedding models: their query and passage prefixes, pooling and input length. Other models work too, and none
 * is required.
 */
export type Pooling = "mean" | "cls"

export interface ModelFacts {
  readonly pooling: Pooling
  readonly queryPrefix: string
  readonly passagePrefix: string
  /** Input length in tokens, special tokens included. */
  readonly tokensMax: number
}

const KNOWN: Readonly<Record<string, ModelFacts>> = {
  "multilingual-e5-small": {
    pooling: "mean",
    queryPrefix: "query: ",
    passagePrefix: "passage: ",
    tokensMax: 512,
  },
  "all-MiniLM-L6-v2": { pooling: "mean", queryPrefix: "", passagePrefix: "", tokensMax: 256 },
}

const UNKNOWN: ModelFacts = { pooling: "mean", queryPrefix: "", passagePrefix: "", tokensMax: 512 }

export function knownModel(name: string): ModelFacts | undefined {
  return Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined
}

/** For models that are not listed, their own files decide. */
export function factsOfModel(name: string, own: Partial<ModelFacts>): ModelFacts {
  return knownModel(name) ?? { ...UNKNOWN, ...own }
}
