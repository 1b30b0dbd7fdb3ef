/** The engine's configuration of an index, from its declaration. */
import type { Index } from "@lancedb/lancedb"
import { engine } from "./engine.ts"
import type { FtsOptions, IndexDefinition } from "./table-definition.ts"

export function indexConfig(definition: IndexDefinition): Index {
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
