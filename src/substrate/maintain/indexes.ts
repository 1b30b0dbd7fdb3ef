/** How a declared index is built by the engine. Indexes make reads faster and never change what they answer. */
import type { Index, Table as LanceTable } from "@lancedb/lancedb"
import { engine } from "../lance/engine.ts"
import { type IndexDefinition, indexName } from "../table-definition.ts"

/** Builds the index over all rows, in place of one of the same name. */
export async function buildIndex(table: LanceTable, definition: IndexDefinition): Promise<void> {
  await table.createIndex(definition.column, {
    config: indexConfig(definition),
    name: indexName(definition),
    replace: true,
  })
}

function indexConfig(definition: IndexDefinition): Index {
  const { lance } = engine()
  switch (definition.kind) {
    case "btree":
      return lance.Index.btree()
    case "bitmap":
      return lance.Index.bitmap()
    case "ivf_rq":
      return lance.Index.ivfRq({ distanceType: definition.distance })
  }
}
