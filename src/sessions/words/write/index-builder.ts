/** Builds an inverted index in memory, for a new segment and for the tail that no segment holds yet. Pure. */

import { type AttributeBatch, createDocumentsBuilder, type Documents, LENGTH_MAX } from "../segment/documents.ts"
import { openTextColumn } from "../terms/code-units.ts"
import { createMessageTerms } from "../terms/message-terms.ts"
import type { TermInterner } from "../terms/term-interner.ts"

/** Sorted terms, each with the ascending numbers of the messages that have it. */
export interface InvertedIndex {
  readonly documents: Documents
  readonly terms: readonly string[]
  numbersOf(index: number): Uint32Array
}

/** A message before the batch, which gives context to the session of that row. */
export interface EarlierMessage {
  readonly row: number
  readonly ordinal: number
  readonly role: string
  readonly text: string
}

/** A batch of messages with everything that their terms derive from. */
export interface MessageBatch extends AttributeBatch {
  /** Earlier messages of sessions that started before the batch, oldest first. */
  readonly spoken: readonly EarlierMessage[]
  /** Stored terms of rows whose text is in a blob, by row of the batch. */
  readonly large: ReadonlyMap<number, string>
}

export interface IndexBuilder {
  add(batch: MessageBatch): void
  finish(): InvertedIndex
}

export function createIndexBuilder(book: TermInterner): IndexBuilder {
  const documents = createDocumentsBuilder()
  const messages = createMessageTerms(book)
  const stream = createTermStream()
  return {
    add: ({ places, columns, spoken, large }) => {
      const codes = documents.add({ places, columns })
      const texts = openTextColumn(columns.columns["search_text"] as never)
      const ordinals = columns.columns["ordinal"]?.data as Int32Array
      const session = (row: number) => codes.session_id[row] as number
      for (const { row, ...said } of spoken) messages.remember({ session: session(row), ...said })
      for (let row = 0; row < places.length; row++) {
        const elsewhere = large.get(row)
        if (elsewhere === undefined && texts.isNull(row)) continue
        const message = {
          session: session(row),
          ordinal: ordinals[row] as number,
          role: documents.text("role", codes.role[row] as number),
        }
        const numbers = elsewhere === undefined ? messages.of(message, texts, row) : messages.ofLarge(elsewhere)
        stream.add(places[row] as number, numbers)
      }
    },
    finish: () => {
      const lengths = stream.lengths(documents.size)
      const { order, starts, grouped } = stream.byTerm(book)
      return {
        documents: documents.finish(lengths),
        terms: order.map((number) => book.text(number)),
        numbersOf: (index) => {
          const own = grouped.subarray(starts[index], starts[index + 1])
          return stream.isAscending ? own : own.toSorted()
        },
      }
    },
  }
}

// --- Terms message by message -----------------------------------------------------------------------------------------

/** Term numbers of all messages in one growing array. */
function createTermStream() {
  let stream = new Int32Array(1 << 16)
  const places: number[] = []
  const ends: number[] = []
  let used = 0
  let isAscending = true
  return {
    get isAscending() {
      return isAscending
    },
    add: (place: number, numbers: Int32Array) => {
      while (used + numbers.length > stream.length) stream = grow(stream)
      stream.set(numbers, used)
      used += numbers.length
      isAscending &&= place > (places.at(-1) ?? -1)
      places.push(place)
      ends.push(used)
    },
    /** Terms per message, by position. */
    lengths: (size: number) => {
      const lengths = new Uint16Array(size)
      for (const [index, end] of ends.entries())
        lengths[places[index] as number] = Math.min(end - (ends[index - 1] ?? 0), LENGTH_MAX)
      return lengths
    },
    byTerm: (book: TermInterner) => byTerm(book, stream.subarray(0, used), places, ends),
  }
}

function grow(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2)
  larger.set(array)
  return larger
}

/** Inverts terms per message into messages per term, by counting sort. */
function byTerm(book: TermInterner, stream: Int32Array, places: readonly number[], ends: readonly number[]) {
  const next = new Uint32Array(book.size)
  for (let at = 0; at < stream.length; at++) next[stream[at] as number] = (next[stream[at] as number] as number) + 1
  const order = book.inOrder().filter((number) => next[number] !== 0)
  const starts = new Uint32Array(order.length + 1)
  for (const [index, number] of order.entries()) {
    starts[index + 1] = (starts[index] as number) + (next[number] as number)
    next[number] = starts[index] as number
  }
  const grouped = new Uint32Array(stream.length)
  let at = 0
  for (const [message, end] of ends.entries()) {
    const place = places[message] as number
    for (; at < end; at++) {
      const number = stream[at] as number
      grouped[next[number] as number] = place
      next[number] = (next[number] as number) + 1
    }
  }
  return { order, starts, grouped }
}
