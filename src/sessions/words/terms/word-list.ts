/**
 * The words of all messages, kept beside their index: each as it is compared (folded, without underscores) and, where that
 * is another, the term that the index has for it. Grows with the folding of the index, never with a write; what was
 * stored since is told by its place, so that who asks can look at it. Can be made again from the messages at any time.
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
  /** Messages from this place on are not in it. */
  readonly reach: number
  /** How many of those before it say something that is nobody's copy. */
  readonly spoken: number
  /** The terms of the words that hold the stretch: at their beginning or end, where that is said. Nothing beyond `max`. */
  termsHolding(
    stretch: string,
    at: { readonly isStart: boolean; readonly isEnd: boolean },
    max: number,
  ): string[] | undefined
}

export interface WordLists {
  /** Nothing where none was made yet. */
  current(): Promise<WordList | undefined>
  /** How many messages say something that is nobody's copy, also of those that are in no list yet. */
  spoken(): Promise<number>
  /** Takes in what was stored since, where there is enough of it. */
  extend(effort: Effort): Promise<void>
}

/** As for the index of words: below it, looking at what is not in the list costs less than making it longer. */
const TAIL_MIN = 500
const TAIL_SHARE = 1 / 1000
/** So many rows are counted one by one sooner than the engine counts all. */
const TAIL_READ_MAX = 20_000
const PIECE_UNITS = 1_000_000
/** Then they are written as one. */
const PIECES_MAX = 12
/** Encoded data, not a word. Whatever is looked for may stand in it. */
const LINE_UNITS_MAX = 4_096
const ANYTHING = "*"

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

  /** How far the lists reach, without their words; nothing where they are not of these messages. */
  async function reached(): Promise<Reached | undefined> {
    const rows = await table.read({ columns: ["reach", "spoken", "last_session_id", "last_message_id"] })
    const last = rows.toSorted((left, right) => Number(right.reach - left.reach))[0]
    if (last === undefined) return undefined
    const reach = Number(last.reach)
    const stands = await at(reach - 1)
    const isOfThese = last.last_session_id === stands?.session_id && last.last_message_id === stands.id
    return isOfThese ? { reach, pieces: rows.length, spoken: last.spoken } : undefined
  }

  async function newest(): Promise<Kept | undefined> {
    const version = await table.version()
    if (kept !== undefined && kept.version === version) return kept
    const told = await reached()
    if (told === undefined) return undefined
    // What another process adds meanwhile only tells of more words.
    const rows = await table.read({ columns: ["words"] })
    kept = { ...told, version, bytes: Buffer.from(`\n${rows.map(({ words }) => words).join("")}`) }
    return kept
  }

  async function at(place: number) {
    const [row] = await messages.takeByNumber([place], ["session_id", "id"])
    return row
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
      if (count - from > TAIL_READ_MAX) return await messages.count(OWN_SPEECH)
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
      // Places that are no count are no places that this list can tell of.
      if (last === undefined) return
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
      // Where another process was first with a piece, the words of ours are in none but those that lie there already.
      const isWhole = present === 0 || before === undefined
      if (isRewritten && isWhole) await table.deleteWhere(not(eq("reach", BigInt(reach))))
      await table.maintain(effort)
      // The words of a million messages leave 150 MB behind.
      between("steps")
    },
  }
}

function toLines(kept: Kept | undefined): string {
  return kept?.bytes.toString("utf8").slice(1) ?? ""
}

// --- Making -----------------------------------------------------------------------------------------------------------

/** The lines that are new, each with its end, of the messages between two places. */
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
  for await (const stretch of messages.scanByNumber({ from, to, columns: ["lane"], text: "search_text" })) {
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

/** Something said, that is no copy and no value so large that it lies elsewhere. */
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

/** As a part of a word is looked for, and as the word holds it. */
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
  // A list without words says that all messages were read.
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

/** One more than there may be, where there are too many. */
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
