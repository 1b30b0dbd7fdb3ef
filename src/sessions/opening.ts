/**
 * What a search, and a session or a message that is asked for, read of each table: for the opening of a store in a bucket.
 */
import { eq } from "../substrate/filter.ts"
import type { MaintenanceReport, OpeningReads, Store } from "../substrate/table.ts"
import type { IndexDefinition, TableDefinition } from "../substrate/table-definition.ts"
import { TOMBSTONES } from "../substrate/tombstones.ts"
import { MESSAGES, PARTS, SESSIONS, WORD_BLOCKS, WORD_LISTS, WORD_SEGMENTS } from "./tables.ts"
import { DIRECTORY_BLOCK, FACT_COLUMNS } from "./words/segment/segments.ts"

/** Whose values are few or small: all of them take less than the requests for a row's. */
const MESSAGES_SMALL = ["ordinal", "role", "lane", "content"]
const PARTS_SMALL = ["ordinal", "message_ordinal", "type", "provenance", "tool_name", "is_failure"]

/** In a store on a disk there is nothing to gather, and this file is not loaded. */
export async function refreshOpening(store: Store, done: readonly MaintenanceReport[]): Promise<void> {
  const isChanged = done.some(({ steps }) => steps.length > 0)
  await store.gatherOpening(openingReads(), isChanged)
}

function openingReads(): readonly OpeningReads[] {
  return [
    of(SESSIONS, { columns: Object.keys(SESSIONS.columns), lookups: looked(SESSIONS) }),
    of(MESSAGES, {
      columns: Object.keys(MESSAGES.columns),
      lookups: looked(MESSAGES),
      scans: [{ columns: MESSAGES_SMALL }],
    }),
    of(PARTS, { columns: Object.keys(PARTS.columns), lookups: looked(PARTS), scans: [{ columns: PARTS_SMALL }] }),
    of(TOMBSTONES, {}),
    of(WORD_SEGMENTS, { scans: [{ columns: FACT_COLUMNS }] }),
    of(WORD_BLOCKS, {
      columns: Object.keys(WORD_BLOCKS.columns),
      scans: [{ columns: ["segment", "terms", "lists"], where: eq("block", DIRECTORY_BLOCK) }],
    }),
    of(WORD_LISTS, { columns: Object.keys(WORD_LISTS.columns) }),
  ]
}

function of(definition: unknown, reads: Partial<OpeningReads>): OpeningReads {
  return { definition: definition as TableDefinition, scans: [], columns: [], lookups: [], ...reads }
}

function looked({ indexes }: { readonly indexes: readonly IndexDefinition[] }): readonly string[] {
  return indexes.map(({ column }) => column)
}
