/**
 * What of a message is searched as conversation: one function for every client, from canonical fields alone (spec 8).
 * Reasoning, tool calls, tool results and injected text are left out; they are found through their parts.
 */
import type { Entry } from "../model/session.ts"
import { lazy } from "../platform/lazy.ts"
import { CUT_TERM } from "./search-terms.ts"
import { createTermBook, type TermBook, type TermNumbers } from "./term-book.ts"

/** Nothing for messages without conversation of their own: carriers, bare tool calls, injected text. */
export function searchText({ message, parts }: Entry): string | null {
  if (message.role === "system" || message.role === "tool") return null
  const texts: string[] = []
  for (const part of parts) {
    if (part.provenance !== "conversational") continue
    if (part.type === "text") texts.push(part.text)
    if (part.type === "file") texts.push([part.file_name, part.media_type].filter(Boolean).join(" "))
  }
  const text = texts.join("\n").trim()
  return text === "" ? null : text
}

/** A short message says little alone: what was said before it fills it up to this many characters. */
const CONTEXT_FILL = 600
const CONTEXT_MESSAGES = 3
const CONTEXT_OF_EACH = 300
/** A text of megabytes is a paste: its beginning is what it is found by, and an exact search still reads all of it. */
export const INDEXED_UNITS_MAX = 200_000

export interface Spoken {
  readonly role: string
  readonly text: string
}

/** Remembers what was said last in one session, and gives the terms of what is said next. */
export interface TermWriter {
  /** The terms of a message, each once; nothing where nothing was said. */
  next(role: string, text: string | null): string | null
}

/** One for all: sessions of one person speak of the same things in the same words. */
const theBook = lazy(() => createTermBook())

export function createTermWriter(before: readonly Spoken[]): TermWriter {
  const book = theBook()
  const last = before.slice(-CONTEXT_MESSAGES).map((spoken) => contextOf(spoken, book))
  return {
    next: (role, text) => {
      if (text === null) return null
      book.tidy()
      const own = `${role}: ${text.slice(0, INDEXED_UNITS_MAX)}`
      const lists = [book.read(own)]
      if (text.length > INDEXED_UNITS_MAX) lists.push(book.term(CUT_TERM))
      let left = CONTEXT_FILL - own.length
      for (let at = last.length - 1; at >= 0 && left > 0; at--) {
        const context = last[at] as Context
        lists.push(context.termsWithin(left))
        left -= Math.min(left, context.text.length)
      }
      last.push(contextOf({ role, text }, book))
      if (last.length > CONTEXT_MESSAGES) last.shift()
      const terms = book.joined(lists)
      return terms === "" ? null : terms
    },
  }
}

/** What the messages after it take of a message. Several ask, and mostly there is room for all of it. */
interface Context {
  readonly text: string
  termsWithin(units: number): TermNumbers
}

function contextOf(spoken: Spoken, book: TermBook): Context {
  const text = `${spoken.role}: ${spoken.text.slice(0, CONTEXT_OF_EACH)}`.slice(0, CONTEXT_OF_EACH)
  let whole: TermNumbers | undefined
  return {
    text,
    termsWithin: (units) => {
      if (units < text.length) return book.read(text.slice(0, units))
      if (whole?.edition !== book.edition) whole = book.read(text)
      return whole
    },
  }
}

export const CONTEXT_DEPTH = CONTEXT_MESSAGES
