/**
 * The list of all words, to find words by a part of them: each word in its comparable form (folded, without
 * underscores) and, where it differs, its term. Extended when the index is folded, never by a write. Messages stored
 * since are known by row number, so a search can include them. Can be rebuilt from the messages at any time.
 *
 * The posting blocks have nearly the same terms, but cut runs at 64 units: a part of a longer run (a token, base64)
 * could not be found by them, and 0.3 % of the messages of real logs have one. Reading the list takes 7 to 18 ms of CPU
 * at 100,000 messages, reading the terms of all blocks 12 to 28.
 */
import { between } from "../../../platform/memory.ts"
import { type ColumnValues, textReader } from "../../../substrate/columns/column-batch.ts"
import { and, eq, type Filter, isIn, isNull, not, startsWith, stored } from "../../../substrate/filter.ts"
import type { Effort } from "../../../substrate/maintain/maintenance-plan.ts"
import type { Store, Table } from "../../../substrate/table.ts"
import { BLOB_SCHEME } from "../../rows/oversized.ts"
import { type MESSAGES, type MessageRow, WORD_LISTS } from "../../tables.ts"
import { createCodeUnits, openTextColumn, toText } from "./code-units.ts"
import { findWordSpans, foldText } from "./tokenizer.ts"
import { createWordSet } from "./word-set.ts"

type Messages = Table<(typeof MESSAGES)["columns"]>

export interface WordList {
  /** Messages from this row number on are not in the list. */
  readonly reach: number
  /** How many of the messages before it have a separate text. */
  readonly spoken: number
  /**
   * Terms of the words that contain the fragment, or start or end with it. Undefined where there are more than `max`.
   */
  termsHolding(
    stretch: string,
    at: { readonly isStart: boolean; readonly isEnd: boolean },
    max: number,
  ): string[] | undefined
}

export interface WordLists {
  /** Undefined before the first list is written. */
  current(): Promise<WordList | undefined>
  /** How many messages have a separate text, those behind the list included. */
  spoken(): Promise<number>
  /** Adds the words of messages stored since, if there are enough. */
  extend(effort: Effort): Promise<void>
}

/** As for the index: with fewer new messages, searching them costs less than extending the list. */
const TAIL_MIN = 500
const TAIL_SHARE = 1 / 1000
/** Up to this many rows are read and counted faster than the engine counts the table. */
const TAIL_READ_MAX = 20_000
const PIECE_UNITS = 1_000_000
/** With more pieces the list is rewritten as one. */
const PIECES_MAX = 12
/** Longer runs are encoded data, which may contain any fragment. */
const LINE_UNITS_MAX = 4_096
const ANYTHING = "*"
/** In place of a last message that a purge has removed. */
const PURGED = { session_id: "", id: "" }

interface Reached {
  readonly reach: number
  readonly pieces: number
  readonly spoken: number
}

interface Kept extends Reached {
  readonly version: number | undefined
  readonly bytes: Buffer
}

export function openWordLists(store: Store, messages: Messages): WordLists {
  const table = store.table(WORD_LISTS)
  let kept: Kept | undefined

  /** How far the list reaches, without its words; undefined where it belongs to other messages. */
  async function reached(): Promise<Reached | undefined> {
    const rows = await table.read({ columns: ["reach", "spoken", "last_session_id", "last_message_id"] })
    const last = rows.toSorted((left, right) => Number(right.reach - left.reach))[0]
    if (last === undefined) return undefined
    const reach = Number(last.reach)
    const stands = await at(reach - 1)
    const isOfThese = last.last_session_id === stands.session_id && last.last_message_id === stands.id
    return isOfThese ? { reach, pieces: rows.length, spoken: last.spoken } : undefined
  }

  async function newest(): Promise<Kept | undefined> {
    const version = await table.version()
    if (kept !== undefined && kept.version === version) return kept
    const told = await reached()
    if (told === undefined) return undefined
    // Rows that another process adds meanwhile only contain more words.
    const rows = await table.read({ columns: ["words"] })
    kept = { ...told, version, bytes: Buffer.from(`\n${rows.map(({ words }) => words).join("")}`) }
    return kept
  }

  async function at(place: number) {
    const [row] = await messages.takeByNumber([place], ["session_id", "id"], { withErased: true })
    return row ?? PURGED
  }

  return {
    current: async () => {
      const list = await newest()
      return (
        list && {
          reach: list.reach,
          spoken: list.spoken,
          termsHolding: (stretch, { isStart, isEnd }, max) => findTerms(list.bytes, stretch, { isStart, isEnd, max }),
        }
      )
    },
    spoken: async () => {
      const [count, told] = await Promise.all([messages.nextRowNumber(), reached()])
      const from = told?.reach ?? 0
      // The list knows of no message that is erased.
      const { size } = await messages.erased()
      if (size > 0 || count - from > TAIL_READ_MAX) return await messages.count(OWN_SPEECH)
      const asked = { columns: ["search_text", "lane"] as const, where: stored(from) }
      const rows = count === from ? [] : await messages.read(asked)
      return (told?.spoken ?? 0) + rows.filter(isOwnSpeech).length
    },
    extend: async (effort) => {
      if (effort === "lookups") return
      const [reach, told] = await Promise.all([messages.nextRowNumber(), reached()])
      const from = told?.reach ?? 0
      if (reach - from < (effort === "all" ? 1 : Math.max(TAIL_MIN, from * TAIL_SHARE))) return
      const before = await newest()
      const last = await at(reach - 1)
      const isRewritten = before === undefined || before.pieces >= PIECES_MAX
      const { lines, spoken } = await readLines(messages, before?.reach ?? 0, reach, before?.bytes)
      const known = isRewritten ? toLines(before) : ""
      const rows = splitPieces(`${known}${lines}`).map((words, piece) => ({
        reach: BigInt(reach),
        piece,
        spoken: (before?.spoken ?? 0) + spoken,
        last_session_id: last.session_id,
        last_message_id: last.id,
        words,
      }))
      const { present } = await table.insertAbsent(rows)
      // If another process wrote a piece first, its words replace ours, so the older pieces are still needed.
      const isWhole = present === 0 || before === undefined
      if (isRewritten && isWhole) await table.deleteWhere(not(eq("reach", BigInt(reach))))
      await table.maintain(effort)
      // The words of a million messages leave 150 MB of garbage.
      between("steps")
    },
  }
}

function toLines(kept: Kept | undefined): string {
  return kept?.bytes.toString("utf8").slice(1) ?? ""
}

// --- Making -----------------------------------------------------------------------------------------------------------

/** The new lines of the messages between two row numbers, each with its line feed. */
async function readLines(
  messages: Messages,
  from: number,
  to: number,
  known: Buffer | undefined,
): Promise<{ readonly lines: string; readonly spoken: number }> {
  const met = createWordSet()
  const lines = createWordSet()
  const added: string[] = []
  let spoken = 0
  eachLine(known?.toString("utf8") ?? "", (text, start, end) => lines.add(text.slice(start, end)))
  const units = createCodeUnits()
  for await (const stretch of messages.scanByNumber({
    from,
    to,
    columns: ["lane"],
    text: "search_text",
    withErased: true,
  })) {
    const columns = stretch.columns().columns
    const texts = openTextColumn(columns["search_text"] as ColumnValues)
    const laneAt = textReader(columns["lane"] as ColumnValues)
    for (let row = 0; row < stretch.numbers.length; row++) {
      if (texts.isNull(row)) continue
      if (!texts.isInBlob(row) && laneAt(row) !== "replay") spoken += 1
      units.begin("")
      texts.addStoredTo(units, row)
      met.addWords(units.units, units.length, (start, end) => {
        const run = toText(units.units, start, end)
        for (const { word } of findWordSpans(run)) {
          const line = toLine(run, word)
          if (lines.add(line)) added.push(`${line}\n`)
        }
      })
    }
  }
  return { lines: added.join(""), spoken }
}

/** Text that is neither a copy of another session's message nor in a blob. */
const OWN_SPEECH: Filter = and(
  not(isNull("search_text")),
  isIn("lane", ["main", "subagent"]),
  not(startsWith("search_text", BLOB_SCHEME)),
)

export function isOwnSpeech({ search_text, lane }: Pick<MessageRow, "search_text" | "lane">): boolean {
  return search_text !== null && lane !== "replay" && !search_text.startsWith(BLOB_SCHEME)
}

function eachLine(text: string, visit: (text: string, start: number, end: number) => void): void {
  for (let start = 0, end = text.indexOf("\n"); end >= 0; start = end + 1, end = text.indexOf("\n", start))
    visit(text, start, end)
}

function toLine(run: string, term: string): string {
  if (run.length > LINE_UNITS_MAX) return `${ANYTHING}\t${term}`
  const compared = toComparable(run)
  return compared === term ? term : `${compared}\t${term}`
}

/** The form in which words and fragments are compared. */
export function toComparable(stretch: string): string {
  return foldText(stretch).replaceAll("_", "")
}

function splitPieces(lines: string): string[] {
  const pieces: string[] = []
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf("\n", Math.min(lines.length, from + PIECE_UNITS) - 1) + 1
    pieces.push(lines.slice(from, end))
    from = end
  }
  // An empty list still says that all messages were read.
  return pieces.length === 0 ? [""] : pieces
}

// --- Asking -----------------------------------------------------------------------------------------------------------

const [LINE, TAB] = [10, 9]

interface Asked {
  readonly isStart: boolean
  readonly isEnd: boolean
  readonly max: number
}

function findTerms(bytes: Buffer, stretch: string, asked: Asked): string[] | undefined {
  const terms = new Set(findLines(bytes, stretch, asked))
  for (const term of findLines(bytes, ANYTHING, { ...asked, isStart: true, isEnd: true })) terms.add(term)
  return terms.size > asked.max ? undefined : [...terms]
}

/** Stops at one more than `max`. */
function findLines(bytes: Buffer, stretch: string, { isStart, isEnd, max }: Asked): string[] {
  const wanted = Buffer.from(isStart ? `\n${stretch}` : stretch)
  const found: string[] = []
  for (let at = bytes.indexOf(wanted); at >= 0 && found.length <= max; ) {
    let start = at
    if (!isStart) while (bytes[start - 1] !== LINE) start -= 1
    else start += 1
    const end = bytes.indexOf(LINE, at + 1)
    const tab = bytes.subarray(start, end).indexOf(TAB)
    const wordEnd = tab < 0 ? end : start + tab
    const isHeld = isEnd ? endsWith(bytes, stretch, start, wordEnd) : at + wanted.length <= wordEnd
    if (isHeld) found.push(bytes.toString("utf8", tab < 0 ? start : wordEnd + 1, end))
    at = bytes.indexOf(wanted, end)
  }
  return found
}

function endsWith(bytes: Buffer, stretch: string, start: number, end: number): boolean {
  const wanted = Buffer.from(stretch)
  return end - start >= wanted.length && bytes.subarray(end - wanted.length, end).equals(wanted)
}
