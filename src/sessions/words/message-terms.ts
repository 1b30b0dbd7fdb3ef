/**
 * The terms of messages, made when they are folded or searched for the first time: of what each says and, where that is
 * short, of what was said just before it in its session. They follow from the messages and their row numbers alone, so
 * that whoever folds the same messages gets the same.
 */
import { lazy } from "../../platform/lazy.ts"
import { and, eq, isNull, not, or, range } from "../../substrate/filter.ts"
import type { Table } from "../../substrate/table.ts"
import { blobOfColumn, textOfColumn } from "../oversized.ts"
import { CUT_TERM, indexTerms } from "../search-terms.ts"
import type { MESSAGES, MessageRow } from "../tables.ts"
import { createTermBook, type TermBook, type TermNumbers } from "../term-book.ts"

/** A short message says little alone: what was said before it fills it up to this many characters. */
const CONTEXT_FILL = 600
const CONTEXT_MESSAGES = 3
const CONTEXT_OF_EACH = 300
/** What was said so many messages ago is no context any more, so that looking for it has an end. */
const CONTEXT_REACH = 256
/** A text of megabytes is a paste: its beginning is what it is found by, and an exact search still reads all of it. */
export const INDEXED_UNITS_MAX = 200_000

/** One for all: sessions of one person speak of the same things in the same words. */
export const theBook = lazy(() => createTermBook())

/** Of a message whose text is too large to lie in its row: they are stored beside it, so that no fold reads the text. */
export function termsOfLarge(role: string, text: string): string {
  return [...new Set([...indexTerms(beginning(role, text)), CUT_TERM])].join(" ")
}

function beginning(role: string, text: string): string {
  return `${role}: ${text.slice(0, INDEXED_UNITS_MAX)}`
}

type Placed = Pick<MessageRow, "session_id" | "ordinal">

export interface MessageTerms {
  /** Before the terms of these rows are asked for: of sessions that began earlier it reads what was said last. */
  meet(rows: readonly Placed[]): Promise<void>
  /** In the order in which the messages were stored. `column` is the text as it lies in the row, if there is one. */
  of(row: Placed & Pick<MessageRow, "role">, column: string | null): readonly TermNumbers[]
  /** Of the row of that number, whose text lies elsewhere: what `termsOfLarge` said of it. */
  ofLarge(row: number): Promise<readonly TermNumbers[]>
}

/** For messages from that row number on. */
export function createMessageTerms(messages: Table<(typeof MESSAGES)["columns"]>, from: number): MessageTerms {
  const book = theBook()
  const said = new Map<string, Context[]>()
  return {
    meet: async (rows) => {
      const begun = new Map<string, number>()
      for (const { session_id, ordinal } of rows) {
        if (said.has(session_id)) continue
        said.set(session_id, [])
        if (ordinal > 0 && from > 0) begun.set(session_id, ordinal)
      }
      for (const spoken of await spokenBefore(messages, from, begun)) remember(said, spoken, book)
    },
    of: (row, column) => {
      if (column === null) return []
      book.tidy()
      const text = textOfColumn(column, new Map())
      const own = beginning(row.role, text)
      const lists = [book.read(own)]
      if (text.length > INDEXED_UNITS_MAX) lists.push(book.term(CUT_TERM))
      let left = CONTEXT_FILL - own.length
      for (const context of (said.get(row.session_id) ?? []).toReversed()) {
        if (left <= 0) break
        if (!isWithinReach(context, row)) continue
        lists.push(context.termsWithin(left))
        left -= Math.min(left, context.text.length)
      }
      remember(said, { ...row, text }, book)
      return lists
    },
    ofLarge: async (number) => {
      const [row] = await messages.takeRows([number], ["search_terms"])
      book.tidy()
      return (row?.search_terms ?? "").split(" ").map((term) => book.term(term))
    },
  }
}

function isWithinReach({ ordinal }: Context, row: Placed): boolean {
  return ordinal < row.ordinal && row.ordinal - ordinal <= CONTEXT_REACH
}

// --- What was said ----------------------------------------------------------------------------------------------------

interface Spoken extends Placed {
  readonly role: string
  readonly text: string
}

/** What the messages after it take of a message. Several ask, and mostly there is room for all of it. */
interface Context {
  readonly ordinal: number
  readonly text: string
  termsWithin(units: number): TermNumbers
}

function remember(said: ReadonlyMap<string, Context[]>, spoken: Spoken, book: TermBook): void {
  const own = said.get(spoken.session_id)
  own?.push(contextOf(spoken, book))
  if (own !== undefined && own.length > CONTEXT_MESSAGES) own.shift()
}

function contextOf({ ordinal, role, text: whole }: Spoken, book: TermBook): Context {
  const text = ownCopy(`${role}: ${whole.slice(0, CONTEXT_OF_EACH)}`.slice(0, CONTEXT_OF_EACH))
  let terms: TermNumbers | undefined
  return {
    ordinal,
    text,
    termsWithin: (units) => {
      if (units < text.length) return book.read(text.slice(0, units))
      if (terms?.edition !== book.edition) terms = book.read(text)
      return terms
    },
  }
}

/** A piece of a text would keep all of the text in memory. */
function ownCopy(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le")
}

const SESSIONS_AT_ONCE = 64

/** In those sessions, before those ordinals, in order: what is stored before that row number. */
async function spokenBefore(
  messages: Table<(typeof MESSAGES)["columns"]>,
  to: number,
  begun: ReadonlyMap<string, number>,
): Promise<Spoken[]> {
  const all = [...begun]
  const spoken: Spoken[] = []
  for (let first = 0; first < all.length; first += SESSIONS_AT_ONCE) {
    const reached = all
      .slice(first, first + SESSIONS_AT_ONCE)
      .map(([id, ordinal]) =>
        and(eq("session_id", id), range("ordinal", { from: ordinal - CONTEXT_REACH, to: ordinal, toExclusive: true })),
      )
    const where = and(or(...reached), not(isNull("search_text")))
    const columns = ["session_id", "ordinal", "role", "search_text"] as const
    for await (const { rows } of messages.stretches({ from: 0, to, columns, where })) {
      for (const { search_text, ...row } of rows) {
        if (search_text === null || blobOfColumn(search_text) !== undefined) continue
        const text = textOfColumn(search_text, new Map())
        spoken.push({ ...row, text: ownCopy(text.slice(0, CONTEXT_OF_EACH)) })
      }
    }
  }
  return spoken.sort((left, right) => left.ordinal - right.ordinal)
}
