/**
 * Terms of messages into lists of messages, in memory: what a new segment is made of, and what the newest messages are
 * searched by until they lie in one. Terms come as the numbers of a book, and get numbers of their own here, which last.
 * Pure; knows no store.
 */
import { assert } from "../../model/errors.ts"
import type { TermBook, TermNumbers } from "../term-book.ts"
import { createDocumentsBuilder, type Documents, type FacetRow } from "./documents.ts"

/** The terms of so many messages, in order, each with the messages that hold it. */
export interface Built {
  readonly documents: Documents
  readonly terms: readonly string[]
  numbersOf(index: number): Uint32Array
}

export interface Builder {
  /** Of one message. What stands there twice counts once. */
  add(number: number, row: FacetRow, terms: readonly TermNumbers[]): void
  finish(): Built
}

export function createBuilder(book: TermBook): Builder {
  const documents = createDocumentsBuilder()
  const known = createTermTable(book)
  let stream = new Uint32Array(1 << 16)
  const numbers: number[] = []
  const ends: number[] = []
  let used = 0
  let isAscending = true
  return {
    add: (number, row, terms) => {
      const first = used
      known.begin()
      for (const { numbers: own, edition } of terms) {
        while (used + own.length > stream.length) stream = grown(stream)
        for (let at = 0; at < own.length; at++) {
          const term = known.met(own[at] as number, edition)
          if (term !== undefined) stream[used++] = term
        }
      }
      documents.add(number, row, used - first)
      isAscending &&= number > (numbers.at(-1) ?? -1)
      numbers.push(number)
      ends.push(used)
    },
    finish: () => {
      const { starts, grouped } = groupedBy(stream.subarray(0, used), known.terms.length, numbers, ends)
      const { terms } = known
      const order = Array.from(terms.keys()).sort((left, right) => compare(terms[left] ?? "", terms[right] ?? ""))
      return {
        documents: documents.finish(),
        terms: order.map((index) => terms[index] ?? ""),
        numbersOf: (index) => {
          const term = order[index] ?? 0
          const own = grouped.subarray(starts[term], starts[term + 1])
          return isAscending ? own : own.toSorted()
        },
      }
    },
  }
}

/** The order of terms everywhere: by their UTF-16 units. */
export function compare(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

function grown(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2)
  larger.set(array)
  return larger
}

/** The terms message by message become the messages term by term: counted, then put in their places. */
function groupedBy(stream: Uint32Array, terms: number, numbers: readonly number[], ends: readonly number[]) {
  const starts = new Uint32Array(terms + 1)
  for (let at = 0; at < stream.length; at++) {
    const next = (stream[at] as number) + 1
    starts[next] = (starts[next] as number) + 1
  }
  for (let term = 0; term < terms; term++) starts[term + 1] = (starts[term + 1] as number) + (starts[term] as number)
  const places = starts.slice()
  const grouped = new Uint32Array(stream.length)
  let at = 0
  for (const [message, end] of ends.entries()) {
    const number = numbers[message] as number
    for (; at < end; at++) {
      const term = stream[at] as number
      const place = places[term] as number
      grouped[place] = number
      places[term] = place + 1
    }
  }
  return { starts, grouped }
}

// --- Terms ------------------------------------------------------------------------------------------------------------

interface TermTable {
  readonly terms: readonly string[]
  /** The next message: nothing of it was met. */
  begin(): void
  /** The number here of a number of the book; nothing where the message has it already. */
  met(number: number, edition: number): number | undefined
}

/** A look into a map for every term of every message would cost more than all else: it is asked once for each edition. */
function createTermTable(book: TermBook): TermTable {
  const numbers = new Map<string, number>()
  const terms: string[] = []
  /** By the number in the book the one here, and one more: 0 where it is not known yet. */
  let known = new Uint32Array(1 << 12)
  let knownEdition = book.edition
  /** By the number here the message that had it last. */
  let marks = new Uint32Array(1 << 12)
  let message = 0
  const numberOf = (number: number): number => {
    const term = book.text(number)
    const own = numbers.get(term) ?? terms.length
    if (own === terms.length) {
      numbers.set(term, own)
      terms.push(term)
      if (own >= marks.length) marks = grown(marks)
    }
    while (number >= known.length) known = grown(known)
    known[number] = own + 1
    return own
  }
  return {
    terms,
    begin: () => {
      message++
    },
    met: (number, edition) => {
      assert(edition === book.edition, "terms are added before the book begins anew")
      if (edition !== knownEdition) {
        known.fill(0)
        knownEdition = edition
      }
      const place = number < known.length ? (known[number] as number) : 0
      const own = place === 0 ? numberOf(number) : place - 1
      if (marks[own] === message) return undefined
      marks[own] = message
      return own
    },
  }
}
