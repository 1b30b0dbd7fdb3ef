/**
 * The terms a message is found by: its own, and those of the messages just before it where it is short. They depend on
 * the messages and their order alone, so every process that folds the same messages gets the same terms. Pure.
 */

import { createCodeUnits, INDEXED_UNITS_MAX, type TextColumn } from "./code-units.ts"
import type { TermInterner } from "./term-interner.ts"
import { indexTerms, TRUNCATED_TERM } from "./tokenizer.ts"

/** A short message says little alone: earlier ones are added as context up to this many code units in total. */
const CONTEXT_FILL = 600
const CONTEXT_MESSAGES = 3
export const CONTEXT_OF_EACH = 300
/** Messages further back are no context, so that looking for it ends. */
export const CONTEXT_REACH = 256

/**
 * The terms of a message whose text is in a blob. They are stored in its row, so that a fold need not read the text.
 */
export function termsOfLarge(role: string, text: string): string {
  return [...new Set([...indexTerms(`${role}: ${text.slice(0, INDEXED_UNITS_MAX)}`), TRUNCATED_TERM])].join(" ")
}

/** Session (by number) and ordinal of a message. */
export interface MessagePosition {
  readonly session: number
  readonly ordinal: number
}

export interface MessageTerms {
  /** Registers an earlier message as context, oldest first. */
  remember(spoken: MessagePosition & { readonly role: string; readonly text: string }): void
  /** Term numbers of the text in that row. Call in row order. The array is valid until the next call. */
  of(message: MessagePosition & { readonly role: string }, texts: TextColumn, row: number): Int32Array
  /** Term numbers of a message whose text is in a blob, from its stored terms. */
  ofLarge(terms: string): Int32Array
}

export function createMessageTerms(book: TermInterner): MessageTerms {
  const said: Context[][] = []
  const own = createCodeUnits()

  function keep({ session, ordinal }: MessagePosition, numbers?: Int32Array): void {
    const before = said[session] ?? []
    said[session] = before
    before.push({ ordinal, units: own.first(CONTEXT_OF_EACH), numbers })
    if (before.length > CONTEXT_MESSAGES) before.shift()
  }

  return {
    remember: (spoken) => {
      own.begin(`${spoken.role}: `)
      own.add(spoken.text)
      keep(spoken)
    },
    of: (message, texts, row) => {
      own.begin(`${message.role}: `)
      const isCut = texts.addTo(own, row)
      const context = chooseContext(said[message.session] ?? [], message, CONTEXT_FILL - own.length)
      // Context is interned as a separate message, before this one.
      for (const { from, units } of context)
        if (units === from.units.length) from.numbers ??= collectTerms(book, from.units)
      book.begin()
      book.read(own.units, own.length)
      const numbers = own.length <= CONTEXT_OF_EACH ? book.met().slice() : undefined
      if (isCut) book.addTerm(TRUNCATED_TERM)
      for (const { from, units } of context) {
        if (units === from.units.length) book.addMet(from.numbers as Int32Array)
        else book.read(from.units, units)
      }
      keep(message, numbers)
      return book.met()
    },
    ofLarge: (terms) => {
      book.begin()
      for (const term of terms.split(" ")) book.addTerm(term)
      return book.met()
    },
  }
}

// --- What was said ----------------------------------------------------------------------------------------------------

/** The part of a message that later ones may take as context. Mostly there is room for all of it. */
interface Context {
  readonly ordinal: number
  readonly units: Uint16Array
  /** Terms of all of it, once asked for. */
  numbers: Int32Array | undefined
}

/** Picks context newest first until the room is used: how many code units of each message. */
function chooseContext(
  said: readonly Context[],
  { ordinal }: MessagePosition,
  room: number,
): { from: Context; units: number }[] {
  const found: { from: Context; units: number }[] = []
  let left = room
  for (let at = said.length - 1; at >= 0 && left > 0; at--) {
    const from = said[at] as Context
    if (from.ordinal >= ordinal || ordinal - from.ordinal > CONTEXT_REACH) continue
    const units = Math.min(left, from.units.length)
    found.push({ from, units })
    left -= units
  }
  return found
}

function collectTerms(book: TermInterner, units: Uint16Array): Int32Array {
  book.begin()
  book.read(units, units.length)
  return book.met().slice()
}
