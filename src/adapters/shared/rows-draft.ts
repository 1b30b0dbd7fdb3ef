/** Rows that are being written, which may be too many to hold: as lines they lie where long logs do. */
import { parseOwnJson, stringifyJson } from "../../model/json.ts"
import { collectMade } from "../../platform/memory.ts"
import type { ForeignTarget, OutputRow } from "../adapter.ts"

export interface RowsDraft extends Iterable<OutputRow> {
  push(row: OutputRow): unknown
}

export function createRowsDraft(newLines: ForeignTarget["newLines"]): RowsDraft {
  if (newLines === undefined) return [] as OutputRow[]
  const lines = newLines()
  return {
    push: ({ table, row }) => {
      const line = stringifyJson({ table, row })
      lines.push(line)
      // The row itself, which has as many texts and many small objects.
      collectMade(line.length + ROW_BYTES, 1)
    },
    *[Symbol.iterator]() {
      for (const line of lines) {
        const parsed = parseOwnJson(String(line))
        if (parsed.ok) yield parsed.value as unknown as OutputRow
      }
    },
  }
}

const ROW_BYTES = 4_096

/** Rows of several lists, one list after the other. */
export function joinedRows(lists: readonly Iterable<OutputRow>[]): Iterable<OutputRow> {
  if (lists.every((list) => Array.isArray(list))) return lists.flat() as OutputRow[]
  return {
    *[Symbol.iterator]() {
      for (const list of lists) yield* list
    },
  }
}
