/**
 * The terms of messages, made when they are folded or searched for the first time: of what each says and, where that is
 * short, of what was said just before it in its session. They follow from the messages and their row numbers alone, so
 * that whoever folds the same messages gets the same. Pure; knows no store.
 */

import { createCodeUnits, INDEXED_UNITS_MAX, type TextColumn } from "./code-units.ts"
import type { TermInterner } from "./term-interner.ts"
import { indexTerms, TRUNCATED_TERM } from "./tokenizer.ts"

/** A short message says little alone: what was said before it fills it up to this many characters. */
const CONTEXT_FILL = 600
const CONTEXT_MESSAGES = 3
export const CONTEXT_OF_EACH = 300
/** What was said so many messages ago is no context any more, so that looking for it has an end. */
export const CONTEXT_REACH = 256

/** Of a message whose text is too large to lie in its row: they are stored beside it, so that no fold reads the text. */
export function termsOfLarge(role: string, text: string): string {
  return [...new Set([...indexTerms(`${role}: ${text.slice(0, INDEXED_UNITS_MAX)}`), TRUNCATED_TERM])].join(" ")
}

/** Whose a message is, by a number that stands for its session. */
export interface MessagePosition {
  readonly session: number
  readonly ordinal: number
}

export interface MessageTerms {
  /** What was said in a session before the messages whose terms are asked for, the oldest first. */
  remember(spoken: MessagePosition & { readonly role: string; readonly text: string }): void
  /** Of the text in that row, in the order in which the messages were stored. A view, right until the next are asked for. */
  of(message: MessagePosition & { readonly role: string }, texts: TextColumn, row: number): Int32Array
  /** Of one whose text lies elsewhere: what `termsOfLarge` said of it. */
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
      // Those are messages of their own to the book, so that they come before this one.
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

/** What the messages after it take of a message. Several ask, and mostly there is room for all of it. */
interface Context {
  readonly ordinal: number
  readonly units: Uint16Array
  /** The terms of all of it, once they were asked for. */
  numbers: Int32Array | undefined
}

/** The newest first, until there is no room for more: how many units there are of each. */
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
