/**
 * A long text on the screen: arrows and Space move through it, `/` searches in it. Like the list, a state and what the
 * screen shows of it; its lines come in while somebody reads, and as many as are wanted.
 */
import type { Key } from "../../platform/process/keyboard.ts"
import { highlightMatches, patternOf } from "../render/highlight.ts"
import type { Style } from "../render/style.ts"
import { cutToWidth } from "../render/table.ts"

export interface ReaderState {
  readonly title: string
  /** As wide as the screen, and no line has colours that end in another. */
  readonly lines: readonly string[]
  readonly isComplete: boolean
  /** The first line that is shown. */
  readonly top: number
  readonly search?: ReaderSearch
  /** What is typed behind `/`. */
  readonly typed?: string
  /** The end is wanted, which is not there yet. */
  readonly isToEnd?: boolean
}

interface ReaderSearch {
  readonly pattern: RegExp
  /** The line of the match that was jumped to. */
  readonly at?: number
  /** Where the search for the next one has come to, while it has none. */
  readonly pending?: number
}

/** Lines beyond the screen that are there before somebody asks for them. */
const AHEAD_LINES = 200

/** Whether more lines are wanted. */
export function wantsMore({ lines, isComplete, top, search, isToEnd }: ReaderState): boolean {
  if (isComplete) return false
  return isToEnd === true || search?.pending !== undefined || lines.length < top + AHEAD_LINES
}

export function withLines(state: ReaderState, added: readonly string[] | "end", rows: number): ReaderState {
  const grown = added === "end" ? { ...state, isComplete: true } : { ...state, lines: [...state.lines, ...added] }
  const { pending } = grown.search ?? {}
  if (pending !== undefined) return findNext(grown, pending, rows)
  if (grown.isToEnd !== true) return grown
  const { isToEnd: _, ...settled } = grown
  return grown.isComplete ? moveTo(settled, Number.MAX_SAFE_INTEGER, rows) : grown
}

/** Searches from the first line on, as the list was filtered. */
export function searchedFor(state: ReaderState, query: string, rows: number): ReaderState {
  const pattern = patternOf(query, undefined)
  return pattern === undefined ? state : findNext({ ...state, search: { pattern } }, 0, rows)
}

function bodyRows(rows: number): number {
  return Math.max(1, rows - 3)
}

function moveTo(state: ReaderState, top: number, rows: number): ReaderState {
  const last = Math.max(0, state.lines.length - bodyRows(rows))
  return { ...state, top: Math.max(0, Math.min(last, top)) }
}

export function afterReaderKey(state: ReaderState, key: Key, rows: number): ReaderState {
  if (state.typed !== undefined) return afterTyped(state, state.typed, key, rows)
  const page = Math.max(1, bodyRows(rows) - 2)
  const byKind: Partial<Record<Key["kind"], number>> = {
    ...{ up: state.top - 1, down: state.top + 1, enter: state.top + 1, page_up: state.top - page },
    ...{ page_down: state.top + page, home: 0 },
  }
  const to = byKind[key.kind]
  if (to !== undefined) return moveTo(state, to, rows)
  if (key.kind === "end") return toEnd(state, rows)
  if (key.kind !== "text") return state
  return [...key.text].reduce((current, letter) => afterLetter(current, letter, rows), state)
}

function afterLetter(state: ReaderState, letter: string, rows: number): ReaderState {
  if (state.typed !== undefined) return { ...state, typed: state.typed + letter }
  const page = Math.max(1, bodyRows(rows) - 2)
  switch (letter) {
    case "/":
      return { ...state, typed: "" }
    case "n":
      return state.search === undefined ? state : findNext(state, (state.search.at ?? state.top - 1) + 1, rows)
    case "N":
      return findPrevious(state, rows)
    case "j":
      return moveTo(state, state.top + 1, rows)
    case "k":
      return moveTo(state, state.top - 1, rows)
    case " ":
    case "f":
      return moveTo(state, state.top + page, rows)
    case "b":
      return moveTo(state, state.top - page, rows)
    case "g":
      return moveTo(state, 0, rows)
    case "G":
      return toEnd(state, rows)
    default:
      return state
  }
}

function toEnd(state: ReaderState, rows: number): ReaderState {
  return state.isComplete ? moveTo(state, Number.MAX_SAFE_INTEGER, rows) : { ...state, isToEnd: true }
}

function afterTyped(state: ReaderState, typed: string, key: Key, rows: number): ReaderState {
  const { typed: _, ...settled } = state
  if (key.kind === "text") return { ...state, typed: typed + key.text }
  if (key.kind === "clear") return { ...state, typed: "" }
  if (key.kind === "delete") return typed === "" ? settled : { ...state, typed: [...typed].slice(0, -1).join("") }
  if (key.kind === "leave") return settled
  if (key.kind !== "enter") return state
  const pattern = patternOf(typed, "exact")
  return pattern === undefined ? settled : findNext({ ...settled, search: { pattern } }, state.top, rows)
}

/** Goes to the first match on or behind that line; what is not there yet is searched once it comes. */
function findNext(state: ReaderState, from: number, rows: number): ReaderState {
  const { search, lines, isComplete } = state
  if (search === undefined) return state
  const { pattern } = search
  const kept = search.at === undefined ? {} : { at: search.at }
  for (let at = from; at < lines.length; at++) if (isMatch(lines[at], pattern)) return jumpTo(state, pattern, at, rows)
  return { ...state, search: isComplete ? { pattern, ...kept } : { pattern, ...kept, pending: lines.length } }
}

function findPrevious(state: ReaderState, rows: number): ReaderState {
  const { search, lines } = state
  if (search === undefined) return state
  for (let at = (search.at ?? state.top) - 1; at >= 0; at--)
    if (isMatch(lines[at], search.pattern)) return jumpTo(state, search.pattern, at, rows)
  return state
}

/** A match stands some lines below the top, so that it is seen what it follows. */
function jumpTo(state: ReaderState, pattern: RegExp, at: number, rows: number): ReaderState {
  return moveTo({ ...state, search: { pattern, at } }, at - Math.floor(bodyRows(rows) / 3), rows)
}

function isMatch(line: string | undefined, pattern: RegExp): boolean {
  return line !== undefined && Bun.stripANSI(line).search(pattern) >= 0
}

export interface ReaderLayout {
  readonly style: Style
  readonly columns: number
  readonly rows: number
  readonly hint: string
}

/** Exactly as many lines as the screen has, none wider than it. */
export function readerScreen(state: ReaderState, { style, columns, rows, hint }: ReaderLayout): string[] {
  const { title, lines, top, search, typed } = state
  const room = bodyRows(rows)
  const body = lines.slice(top, top + room).map((line, index) => {
    const shown = search === undefined || !isMatch(line, search.pattern) ? line : marked(line, search.pattern, style)
    const pointer = search !== undefined && search.at === top + index ? style.magenta(">") : " "
    return `${pointer}${Bun.sliceAnsi(shown, 0, columns - 2)}`
  })
  const place = placeOf(state, room)
  const width = columns - 1 - Bun.stringWidth(place) - 2
  const name = cutToWidth(title, Math.max(1, width))
  const gap = " ".repeat(Math.max(1, columns - 1 - Bun.stringWidth(name) - Bun.stringWidth(place)))
  const head = cutToWidth(`${name}${gap}${place}`, columns - 1)
  const foot = typed === undefined ? style.dim(cutToWidth(hint, columns - 1)) : cutToWidth(`/${typed}▏`, columns - 1)
  const fill = Array<string>(Math.max(0, room - body.length)).fill("")
  return [style.bold(head), style.dim("─".repeat(Math.max(1, columns - 1))), ...body, ...fill, foot].slice(-rows)
}

/** Matches are marked in the text alone, so a line with one loses its other colours. */
function marked(line: string, pattern: RegExp, style: Style): string {
  return highlightMatches(Bun.stripANSI(line), pattern, (found) => style.bold(style.red(found)))
}

/** `1-38 of 1,289`, or what a search has come to. */
function placeOf({ lines, isComplete, top, search }: ReaderState, room: number): string {
  const all = `${lines.length}${isComplete ? "" : "+"}`
  const at = `${Math.min(lines.length, top + 1)}-${Math.min(lines.length, top + room)} of ${all}`
  if (search === undefined) return at
  if (search.pending !== undefined) return `searching … ${all}`
  return search.at === undefined ? `no match  ${at}` : `match in line ${search.at + 1}  ${at}`
}
