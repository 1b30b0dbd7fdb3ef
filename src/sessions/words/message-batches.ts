/**
 * What the terms of messages are made of, read from the store: their columns, a batch at a time, and of sessions that
 * began earlier what was said last.
 */
import { and, eq, isNull, not, or, range } from "../../substrate/filter.ts"
import { type ColumnValues, repeatedTexts, textReader } from "../../substrate/plain-columns.ts"
import type { Table } from "../../substrate/table.ts"
import { blobOfColumn, textOfColumn } from "../oversized.ts"
import type { MESSAGES } from "../tables.ts"
import { textsOfColumn } from "../text-units.ts"
import type { MessageBatch, SpokenBefore } from "./builder.ts"
import { FACETS } from "./documents.ts"
import { CONTEXT_OF_EACH, CONTEXT_REACH } from "./message-terms.ts"

type Messages = Table<(typeof MESSAGES)["columns"]>

export interface Bounds {
  readonly from: number
  /** The first that is not read. */
  readonly to?: number
}

/** Places count from the first row number that is asked for. */
export async function* messageBatches(messages: Messages, bounds: Bounds): AsyncGenerator<MessageBatch> {
  const met = new Set<string>()
  for await (const stretch of messages.stretches({ ...bounds, columns: FACETS, text: "search_text" })) {
    const { numbers } = stretch
    const columns = stretch.columns()
    const column = (name: string) => columns.columns[name] as ColumnValues
    const begun = begunSessions(column("session_id"), column("ordinal"), met)
    const spoken = bounds.from === 0 ? [] : await spokenBefore(messages, bounds.from, begun)
    const large = new Map<number, string>()
    const texts = textsOfColumn(column("search_text"))
    for (let row = 0; row < numbers.length; row++) {
      if (!texts.isElsewhere(row)) continue
      const [found] = await messages.takeRows([numbers[row] as number], ["search_terms"])
      large.set(row, found?.search_terms ?? "")
    }
    yield { places: Uint32Array.from(numbers, (number) => number - bounds.from), columns, spoken, large }
  }
}

interface Begun {
  readonly row: number
  readonly ordinal: number
}

/** Of the sessions that were not met yet, those that have earlier messages, each with its first row. */
function begunSessions(sessions: ColumnValues, ordinals: ColumnValues, met: Set<string>): Map<string, Begun> {
  const begun = new Map<string, Begun>()
  const sessionAt = textReader(sessions)
  const isRepeated = repeatedTexts(sessions)
  for (let row = 0; row < ordinals.data.length; row++) {
    if (isRepeated(row)) continue
    const id = sessionAt(row) ?? ""
    if (met.has(id)) continue
    met.add(id)
    const ordinal = Number(ordinals.data[row])
    if (ordinal > 0) begun.set(id, { row, ordinal })
  }
  return begun
}

const SESSIONS_AT_ONCE = 64

/** In those sessions, before those ordinals, in order: what is stored before that row number. */
async function spokenBefore(
  messages: Messages,
  to: number,
  begun: ReadonlyMap<string, Begun>,
): Promise<SpokenBefore[]> {
  const all = [...begun]
  const spoken: SpokenBefore[] = []
  for (let first = 0; first < all.length; first += SESSIONS_AT_ONCE) {
    const reached = all
      .slice(first, first + SESSIONS_AT_ONCE)
      .map(([id, { ordinal }]) =>
        and(eq("session_id", id), range("ordinal", { from: ordinal - CONTEXT_REACH, to: ordinal, toExclusive: true })),
      )
    const where = and(or(...reached), not(isNull("search_text")))
    const columns = ["session_id", "ordinal", "role", "search_text"] as const
    for await (const { rows } of messages.stretches({ from: 0, to, columns, where })) {
      for (const { session_id, search_text, ordinal, role } of rows) {
        if (search_text === null || blobOfColumn(search_text) !== undefined) continue
        const text = ownCopy(textOfColumn(search_text, new Map()).slice(0, CONTEXT_OF_EACH))
        spoken.push({ row: begun.get(session_id)?.row ?? 0, ordinal, role, text })
      }
    }
  }
  return spoken.sort((left, right) => left.ordinal - right.ordinal)
}

/** A piece of a text would keep all of the text in memory. */
function ownCopy(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le")
}
