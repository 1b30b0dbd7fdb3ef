/**
 * Somebody's Markdown, made so that it stays where it is put: it opens no HTML, leaves no fence open, defines no link for
 * the rest of the document, and shows no image, whose address would tell its owner when it is read. Everything else of it
 * is kept, so that it reads as it was meant. It is not parsed: it is written so that every parser must see it as it is
 * seen here, and where that cannot be had, `<` and the `!` of images are escaped, also in code.
 */
import { visible } from "../../model/visible.ts"

interface Fence {
  readonly sign: string
  readonly length: number
  /** In columns. What stands in it stands at least so far in, and so is in it whatever list it belongs to. */
  readonly indent: number
}

/** Its lines, for a container whose content begins at a column that is a multiple of four: tabs keep their stops. */
export function escapeMarkdown(text: string): string[] {
  const lines = visible(text).split("\n")
  const inTables = linesOfTables(lines)
  const out: string[] = []
  let fence: Fence | undefined
  let isWild = false
  for (const [index, line] of lines.entries()) {
    if (fence !== undefined) {
      const isEnd = ends(line, fence)
      out.push(isEnd ? closing(fence) : atLeast(line, fence.indent))
      if (isEnd) fence = undefined
      continue
    }
    if (BLANK.test(line)) isWild = false
    const opened = opening(line)
    if (opened === undefined) {
      const inlined = inline(line, { isWild, isRow: inTables.has(index) })
      isWild = inlined.isWild
      out.push(inlined.text)
      continue
    }
    // After a blank line it goes on with no paragraph: it is a fence, or code by its indentation, and so is what follows.
    if (opened.isDeep && !BLANK.test(out.at(-1) ?? "")) out.push("")
    out.push(line)
    fence = opened
  }
  if (fence !== undefined) out.push(closing(fence))
  return withoutBlankEnds(out)
}

/** Of nothing but what Markdown calls space: it knows fewer kinds than others do. */
const BLANK = /^[ \t]*$/

function withoutBlankEnds(lines: readonly string[]): string[] {
  const isSaid = (line: string) => !BLANK.test(line)
  const first = lines.findIndex(isSaid)
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex(isSaid) + 1)
}

// --- Fences ----------------------------------------------------------------------------------------------------------

/** Alone on its line, or right behind the sign of a list's item. */
const OPENING = /^([ \t]*)((?:[-*+]|\d{1,9}[.)]) {1,4})?(`{3,}(?=[^`]*$)|~{3,})/

function opening(line: string): (Fence & { readonly isDeep: boolean }) | undefined {
  const [, lead = "", item = "", signs] = OPENING.exec(line) ?? []
  if (signs === undefined) return undefined
  const indent = columns(lead) + item.length
  return { sign: signs.charAt(0), length: signs.length, indent, isDeep: item !== "" || indent > 3 }
}

/** Perhaps not by its own list's measure; but it is closed here, at the place where it cannot but end. */
function ends(line: string, { sign, length, indent }: Fence): boolean {
  const signs = line.trim()
  return signs.length >= length && columns(line) <= indent + 3 && signs === sign.repeat(signs.length)
}

function closing({ sign, length, indent }: Fence): string {
  return `${" ".repeat(indent)}${sign.repeat(length)}`
}

function atLeast(line: string, indent: number): string {
  return columns(line) >= indent ? line : `${" ".repeat(indent)}${line.replace(/^[ \t]+/, "")}`
}

const TAB_STOP = 4

/** How far its first sign stands in. */
function columns(line: string): number {
  let column = 0
  for (const sign of line) {
    if (sign === " ") column++
    else if (sign === "\t") column += TAB_STOP - (column % TAB_STOP)
    else break
  }
  return column
}

// --- Lines -----------------------------------------------------------------------------------------------------------

/** The row of a table that says where its columns are aligned, behind whatever signs of lists and quotes. */
const DELIMITERS = /^[\s>|:+*\d.)-]*$/

/** Lines that may be rows: those between two blank lines that have such a row among them. */
function linesOfTables(lines: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>()
  let chunk: number[] = []
  let isTable = false
  for (const [index, line] of [...lines, ""].entries()) {
    if (!BLANK.test(line)) {
      chunk.push(index)
      isTable ||= line.includes("-") && DELIMITERS.test(line)
      continue
    }
    if (isTable) for (const each of chunk) found.add(each)
    chunk = []
    isTable = false
  }
  return found
}

interface Inlined {
  readonly text: string
  readonly isWild: boolean
}

/** A cell is read alone, and a line that is no row loses nothing by being read so. */
function inline(line: string, { isWild, isRow }: { readonly isWild: boolean; readonly isRow: boolean }): Inlined {
  const cells = isRow ? line.split(/(?<=(?:^|[^\\])(?:\\\\)*)(?=\|)/) : [line]
  let wild = isWild
  const texts = cells.map((cell) => {
    const read = inlineCell(cell, wild)
    wild = read.isWild
    return read.text
  })
  return { text: texts.join(""), isWild: wild }
}

const SIGNS = /\\[\s\S]?|`+|~{3,}|<|\](?=[:(])|!(?=\[)/g
/** A link whose address can hold nothing that is read in two ways. */
const PLAIN_TARGET = /\]\([^\s()<>`"'\\]*\)/y
const AUTOLINK = /<https?:\/\/[^\s<>`\\]*>/y
const TAG = /<(?=[a-z/!?])/i
const TAGS = new RegExp(TAG, "gi")
const IMAGES = /!(?=\[)/g

/**
 * Every run of backticks is paired on its line, or escaped, so that no code goes on into another line. From where that can
 * be read in two ways, until the next blank line, it is wild: nothing counts as code.
 */
function inlineCell(text: string, isWildBefore: boolean): Inlined {
  const isInAddress = addressesOf(text)
  let isWild = isWildBefore
  let out = ""
  let at = 0
  SIGNS.lastIndex = 0
  for (let found = SIGNS.exec(text); found !== null; found = SIGNS.exec(text)) {
    out += text.slice(at, found.index)
    at = found.index
    const [sign] = found
    isWild ||= sign.startsWith("`") ? isInAddress(at) : text.startsWith("](", at) && !isAt(PLAIN_TARGET, text, at)
    const { written, length } = takenAt(text, at, sign, isWild)
    out += written
    at += length
    SIGNS.lastIndex = at
  }
  return { text: out + text.slice(at), isWild }
}

interface Taken {
  /** In place of so many units. */
  readonly written: string
  readonly length: number
}

function takenAt(text: string, at: number, sign: string, isWild: boolean): Taken {
  const { length } = sign
  if (sign.startsWith("`")) {
    const code = codeAt(text, at, length)
    if (code === undefined) return { written: "\\`".repeat(length), length }
    const written = isWild ? code.replace(TAGS, "&lt;").replace(IMAGES, "&#33;") : code
    return { written, length: code.length }
  }
  if (sign.startsWith("~")) return { written: "\\~".repeat(length), length }
  // No definition of a link or of a footnote: those count for the whole document.
  if (sign === "]") return { written: text[at + 1] === ":" ? "]\\" : sign, length }
  // The link to what would be shown stays.
  if (sign === "!") return { written: "\\!", length }
  if (sign === "\\<") return { written: "&lt;", length }
  const isTag = sign === "<" && TAG.test(text.slice(at, at + 2)) && !isAt(AUTOLINK, text, at)
  return { written: isTag ? "&lt;" : sign, length }
}

/** From a run of backticks to the next of the same length, with both. */
function codeAt(text: string, at: number, length: number): string | undefined {
  const from = at + length
  for (const run of text.slice(from).matchAll(/`+/g)) {
    if (run[0].length === length) return text.slice(at, from + run.index + length)
  }
  return undefined
}

/**
 * Whether a place stands in an address that is written without brackets, which takes all up to the next space as its own.
 * Asked for one place after the other, from left to right.
 */
function addressesOf(text: string): (at: number) => boolean {
  let seen = 0
  let isIn = false
  return (at) => {
    for (; seen < at; seen++) {
      if (text[seen] === " " || text[seen] === "\t") isIn = false
      else isIn ||= text.startsWith("://", seen) || /^www\./i.test(text.slice(seen, seen + 4))
    }
    return isIn
  }
}

function isAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}
