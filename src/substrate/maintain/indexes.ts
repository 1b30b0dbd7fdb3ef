/** Indexes as they are declared, in the engine's terms: how one is built, and whether one that is there was built so. */
import type { Index, IndexConfig, Table as LanceTable } from "@lancedb/lancedb"
import { engine } from "../lance/engine.ts"
import { type FtsOptions, type IndexDefinition, indexName } from "../table-definition.ts"

/** Over all rows, in place of one of the same name. */
export async function buildIndex(table: LanceTable, definition: IndexDefinition): Promise<void> {
  await table.createIndex(definition.column, {
    config: indexConfig(definition),
    name: indexName(definition),
    replace: true,
  })
}

/** Only a text index has options that change what it finds. */
export function isBuiltAs(definition: IndexDefinition, built: IndexConfig): boolean {
  if (definition.kind !== "fts") return true
  const details = built.indexDetails as Readonly<Record<string, unknown>> | undefined
  if (typeof details !== "object") return true
  const config = ftsConfig(definition.options)
  return Object.entries(DETAILS).every(([option, detail]) => {
    const wanted = config[option as keyof FtsConfig]
    return wanted === undefined || !(detail in details) || details[detail] === wanted
  })
}

const DETAILS: Readonly<Partial<Record<keyof FtsConfig, string>>> = {
  baseTokenizer: "base_tokenizer",
  withPosition: "with_position",
  lowercase: "lower_case",
  stem: "stem",
  language: "language",
  removeStopWords: "remove_stop_words",
  asciiFolding: "ascii_folding",
  maxTokenLength: "max_token_length",
  ngramMinLength: "min_ngram_length",
  ngramMaxLength: "max_ngram_length",
}

function indexConfig(definition: IndexDefinition): Index {
  const { lance } = engine()
  switch (definition.kind) {
    case "btree":
      return lance.Index.btree()
    case "bitmap":
      return lance.Index.bitmap()
    case "fts":
      return lance.Index.fts(ftsConfig(definition.options))
    case "ivf_rq":
      return lance.Index.ivfRq({ distanceType: definition.distance })
  }
}

type FtsConfig = NonNullable<Parameters<typeof Index.fts>[0]>

/** Every option is said, so that a new default of the engine changes nothing in a store that exists. */
function ftsConfig(options: FtsOptions): FtsConfig {
  return {
    baseTokenizer: options.tokenizer,
    withPosition: options.withPosition ?? false,
    lowercase: options.lowercase ?? true,
    stem: options.stem ?? false,
    language: options.language ?? "English",
    removeStopWords: options.removeStopWords ?? false,
    asciiFolding: options.asciiFolding ?? true,
    maxTokenLength: options.maxTokenLength ?? 40,
    ...(options.ngramMin === undefined ? {} : { ngramMinLength: options.ngramMin }),
    ...(options.ngramMax === undefined ? {} : { ngramMaxLength: options.ngramMax }),
  }
}
