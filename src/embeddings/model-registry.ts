/**
 * What pond knows about embedding models by their names: how a query and a passage are announced to them, how the vectors
 * of tokens become one, how much they read at once. A model that is not listed works too; none is required.
 */
export type Pooling = "mean" | "cls"

export interface ModelFacts {
  readonly pooling: Pooling
  readonly queryPrefix: string
  readonly passagePrefix: string
  /** Tokens that it was trained to read at once, its special ones included. */
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

/** What the model's own files say counts where pond does not know the model. */
export function factsOfModel(name: string, own: Partial<ModelFacts>): ModelFacts {
  return knownModel(name) ?? { ...UNKNOWN, ...own }
}
