/**
 * The words of all messages, kept beside their index: each as it is compared (folded, without underscores) and, where that
 * is another, the term that the index has for it. Grows with the folding of the index, never with a write; what was
 * stored since is told by its place, so that who asks can look at it. Can be made again from the messages at any time.
 */
import { eq, not, stored } from "../substrate/filter.ts"
import type { Effort } from "../substrate/maintenance-plan.ts"
import type { Store, Table } from "../substrate/table.ts"
import { folded, wordsOf } from "./search-terms.ts"
import { INDEXED_UNITS_MAX } from "./search-text.ts"
import { type MESSAGES, WORD_LISTS } from "./tables.ts"
import { createWordSet } from "./word-set.ts"

type Messages = Table<(typeof MESSAGES)["columns"]>

export interface WordList {
  /** Messages from this place on are not in it. */
  readonly reach: number
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
  /** Takes in what was stored since, where there is enough of it. */
  extend(effort: Effort): Promise<void>
}

/** As for the index of words: below it, looking at what is not in the list costs less than making it longer. */
const TAIL_MIN = 500
const TAIL_SHARE = 1 / 200
const PIECE_UNITS = 1_000_000
/** Then they are written as one. */
const PIECES_MAX = 12
/** Encoded data, not a word. Whatever is looked for may stand in it. */
const LINE_UNITS_MAX = 4_096
const ANYTHING = "*"

interface Kept {
  readonly reach: number
  readonly pieces: number
  readonly bytes: Buffer
}

export function openWordLists(store: Store, messages: Messages): WordLists {
  const table = store.table(WORD_LISTS)
  let kept: Kept | undefined

  async function newest(): Promise<Kept | undefined> {
    const { reach, pieces } = await reached()
    if (reach === 0) return undefined
    if (kept?.reach === reach && kept.pieces === pieces) return kept
    const rows = await table.read({ columns: ["reach", "last_session_id", "last_message_id", "words"] })
    const read = Math.max(0, ...rows.map((row) => Number(row.reach)))
    const last = rows.find((row) => Number(row.reach) === read)
    const stands = await at(read - 1)
    if (last?.last_session_id !== stands?.session_id || last?.last_message_id !== stands?.id) return undefined
    kept = { reach: read, pieces: rows.length, bytes: Buffer.from(`\n${rows.map(({ words }) => words).join("")}`) }
    return kept
  }

  async function reached(): Promise<{ readonly reach: number; readonly pieces: number }> {
    const pieces = await table.read({ columns: ["reach"] })
    return { reach: Math.max(0, ...pieces.map((piece) => Number(piece.reach))), pieces: pieces.length }
  }

  async function at(place: number) {
    const [row] = await messages.read({ columns: ["session_id", "id"], where: stored(place, place + 1) })
    return row
  }

  return {
    current: async () => {
      const list = await newest()
      return (
        list && {
          reach: list.reach,
          termsHolding: (stretch, { isStart, isEnd }, max) =>
            termsHolding(list.bytes, stretch, { isStart, isEnd, max }),
        }
      )
    },
    extend: async (effort) => {
      if (effort === "lookups") return
      const [reach, told] = await Promise.all([messages.count(), reached()])
      const enough = effort === "all" ? 1 : Math.max(TAIL_MIN, told.reach * TAIL_SHARE)
      if (reach >= told.reach && reach - told.reach < enough) return
      const before = await newest()
      const from = before?.reach ?? 0
      const last = await at(reach - 1)
      // Places that are no count are no places that this list can tell of.
      if (last === undefined) return
      const isRewritten = before === undefined || before.pieces >= PIECES_MAX
      const lines = await linesOf(messages, from, before?.bytes)
      const known = isRewritten ? (before?.bytes.toString("utf8").slice(1) ?? "") : ""
      const rows = piecesOf(`${known}${lines}`).map((words, piece) => ({
        reach: BigInt(reach),
        piece,
        last_session_id: last.session_id,
        last_message_id: last.id,
        words,
      }))
      await table.insertAbsent(rows)
      if (isRewritten) await table.deleteWhere(not(eq("reach", BigInt(reach))))
      await table.maintain(effort)
    },
  }
}

// --- Making -----------------------------------------------------------------------------------------------------------

/** The lines that are new, each with its end. */
async function linesOf(messages: Messages, from: number, known: Buffer | undefined): Promise<string> {
  const met = createWordSet()
  const lines = createWordSet()
  const added: string[] = []
  eachLine(known?.toString("utf8") ?? "", (text, start, end) => lines.add(text, start, end))
  for await (const rows of messages.batches({ columns: ["search_text"], where: stored(from) })) {
    for (const { search_text } of rows) {
      const text = search_text?.slice(0, INDEXED_UNITS_MAX) ?? ""
      met.addWords(text, (start, end) => {
        for (const { word } of wordsOf(text.slice(start, end))) {
          const line = lineOf(text.slice(start, end), word)
          if (lines.add(line, 0, line.length)) added.push(`${line}\n`)
        }
      })
    }
  }
  return added.join("")
}

function eachLine(text: string, visit: (text: string, start: number, end: number) => void): void {
  for (let start = 0, end = text.indexOf("\n"); end >= 0; start = end + 1, end = text.indexOf("\n", start))
    visit(text, start, end)
}

function lineOf(run: string, term: string): string {
  if (run.length > LINE_UNITS_MAX) return `${ANYTHING}\t${term}`
  const compared = comparedOf(run)
  return compared === term ? term : `${compared}\t${term}`
}

/** As a part of a word is looked for, and as the word holds it. */
export function comparedOf(stretch: string): string {
  return folded(stretch).replaceAll("_", "")
}

function piecesOf(lines: string): string[] {
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

function termsHolding(bytes: Buffer, stretch: string, asked: Asked): string[] | undefined {
  const terms = new Set(linesHolding(bytes, stretch, asked))
  for (const term of linesHolding(bytes, ANYTHING, { ...asked, isStart: true, isEnd: true })) terms.add(term)
  return terms.size > asked.max ? undefined : [...terms]
}

/** One more than there may be, where there are too many. */
function linesHolding(bytes: Buffer, stretch: string, { isStart, isEnd, max }: Asked): string[] {
  const wanted = Buffer.from(isStart ? `\n${stretch}` : stretch)
  const found: string[] = []
  for (let at = bytes.indexOf(wanted); at >= 0 && found.length <= max; ) {
    let start = at
    if (!isStart) while (bytes[start - 1] !== LINE) start -= 1
    else start += 1
    const end = bytes.indexOf(LINE, at + 1)
    const tab = bytes.subarray(start, end).indexOf(TAB)
    const wordEnd = tab < 0 ? end : start + tab
    const isHeld = isEnd ? endsSo(bytes, stretch, start, wordEnd) : at + wanted.length <= wordEnd
    if (isHeld) found.push(bytes.toString("utf8", tab < 0 ? start : wordEnd + 1, end))
    at = bytes.indexOf(wanted, end)
  }
  return found
}

function endsSo(bytes: Buffer, stretch: string, start: number, end: number): boolean {
  const wanted = Buffer.from(stretch)
  return end - start >= wanted.length && bytes.subarray(end - wanted.length, end).equals(wanted)
}
