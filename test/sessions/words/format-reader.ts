/**
 * A second reader of the word index, made of `src/sessions/words/FORMAT.md` alone: it parses the tables of that page, reads
 * with Lance, and uses nothing of pond.
 */
import { expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "@lancedb/lancedb"

export const PAGE = readFileSync(join(import.meta.dir, "../../../src/sessions/words/FORMAT.md"), "utf8")
/** Without line breaks. */
const PROSE = PAGE.replace(/\s+/g, " ")

// --- The page ---------------------------------------------------------------------------------------------------------

/** The rows of the first table behind a text of the page, without the marks of code. */
function tableBehind(text: string): string[][] {
  const from = PAGE.indexOf(text)
  expect(from, `"${text}" is on the page`).toBeGreaterThanOrEqual(0)
  const lines = PAGE.slice(from).split("\n")
  const rows = lines.slice(lines.findIndex((line) => line.startsWith("|")))
  return rows
    .slice(
      2,
      Math.max(
        2,
        rows.findIndex((line) => !line.startsWith("|")),
      ),
    )
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^`(.*)`$/, "$1")),
    )
}

/** The number at that place of a pattern, as the page has it. */
function numberIn(pattern: RegExp): number {
  const found = pattern.exec(PROSE)?.[1]
  expect(found, `${pattern} is on the page`).toBeString()
  return Number(found?.replaceAll(",", ""))
}

export const COLUMNS = new Map(
  ["word_segments", "word_blocks", "word_lists"].map((name) => [name, tableBehind(`### ${name},`)]),
)
const BLOCK = new Map(tableBehind("## 4. Posting blocks").map(([field = "", type = ""]) => [field, type]))
export const ATTRIBUTES = new Map(tableBehind("## 5. Document").map(([name = "", element = ""]) => [name, element]))
const TEXT_ARRAY = new Map(tableBehind("Text arrays are").map(([field = "", type = ""]) => [field, type]))
const SCRIPTS = (/scripts` of `dense` are ([^:]+):/.exec(PROSE)?.[1] ?? "").replace(/`(\w+)`,?\s*/g, "\\p{scx=$1}")
const CLASSES = tableBehind("**Classes.**").map(([name = "", pattern = "", isWord]) => ({
  name,
  pattern: new RegExp(`^${pattern.replace("scripts", SCRIPTS)}`, "u"),
  isWord: isWord === "yes",
}))
export const BM25 = new Map(tableBehind("## 8. Ranking").map(([name, value]) => [name, Number(value)]))
const PLAIN = tableBehind("**Word.**").filter(([of = ""]) => of.startsWith("…"))
const JOINERS = /one of `([^`]+)` before/.exec(PAGE)?.[1]?.split(" ") ?? []
export const LIMITS = {
  unitsOfWord: numberIn(/has more than (\d+) units, the word/),
  cuts: numberIn(/no underscore, or (\d+) cuts or more/),
  indexed: numberIn(/the first ([\d,]+) units of `search_text`/),
  fill: numberIn(/fewer than (\d+) units, context/),
  contextMessages: numberIn(/of the last (\d+) messages/),
  contextReach: numberIn(/at most (\d+) lower/),
  contextUnits: numberIn(/the first (\d+) units of its own text/),
  form: numberIn(/a run of more than ([\d,]+) units, which/),
  bitmapShare: numberIn(/at least 1 of (\d+) messages of the segment/),
}

// --- A reader made of it ----------------------------------------------------------------------------------------------

export type Row = Readonly<Record<string, unknown>>
const SIZES: Readonly<Record<string, number>> = { uint8: 1, uint16: 2, uint32: 4, int32: 4, float64: 8 }

export function numbersOf(bytes: Uint8Array, type: string): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const size = SIZES[type] ?? 0
  expect(bytes.byteLength % size).toBe(0)
  return Array.from({ length: bytes.byteLength / size }, (_, at) => {
    if (type === "uint8") return view.getUint8(at)
    if (type === "uint16") return view.getUint16(at * 2, true)
    if (type === "float64") return view.getFloat64(at * 8, true)
    return type === "int32" ? view.getInt32(at * 4, true) : view.getUint32(at * 4, true)
  })
}

function unescapeText(text: string): string {
  return text.replace(/\u{10FFFE}(.)/gsu, (_, mark: string) =>
    mark === "\u{10FFFE}" ? mark : String.fromCharCode(mark.charCodeAt(0) - 0xe000 + 0xd800),
  )
}

export async function readTable(path: string, name: string): Promise<Row[]> {
  const table = await (await connect(path)).openTable(name)
  const rows = await table.query().withRowId().toArray()
  return rows.map((row) => {
    const cells = Object.entries(row.toJSON() as Row)
    return Object.fromEntries(
      cells.map(([key, value]) => [key, typeof value === "string" ? unescapeText(value) : value]),
    )
  })
}

export function decompress(segment: string, bytes: unknown): Uint8Array {
  const stored = bytes as Uint8Array<ArrayBuffer>
  return segment.startsWith("z") ? new Uint8Array(Bun.zstdDecompressSync(stored)) : stored
}

export function textArray(bytes: Uint8Array, positions: number): string[] {
  expect([...TEXT_ARRAY.keys()]).toEqual(["size", "values", "codes"])
  const [size = 0] = numbersOf(bytes.subarray(0, SIZES[TEXT_ARRAY.get("size") ?? ""]), TEXT_ARRAY.get("size") ?? "")
  const values = JSON.parse(Buffer.from(bytes.subarray(4, 4 + size)).toString()) as string[]
  const codes = bytes.subarray(4 + size)
  const [width = ""] = ["uint8", "uint16", "uint32"].filter((type) => values.length <= 2 ** ((SIZES[type] ?? 0) * 8))
  expect(codes.byteLength).toBe(positions * (SIZES[width] ?? 0))
  return numbersOf(codes, width).map((code) => values[code] ?? "")
}

/** Term → ascending positions. */
function postingsOf(terms: readonly string[], bytes: Uint8Array, positions: number): Map<string, number[]> {
  expect([...BLOCK]).toEqual([
    ["lists", "uint32"],
    ["holder", "uint32"],
    ["end", "uint32"],
    ["bytes", "byte"],
  ])
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const count = view.getUint32(0, true)
  expect(count).toBe(terms.length)
  const start = 4 + count * 8
  let from = 0
  return new Map(
    terms.map((term, at) => {
      const [holder, end] = [view.getUint32(4 + at * 8, true), view.getUint32(8 + at * 8, true)]
      const own = bytes.subarray(start + from, start + end)
      from = end
      const isBitmap = holder >>> 31 === 1
      const held = isBitmap ? bitsOf(own) : varintsOf(own)
      expect(held.length).toBe(holder % 2 ** 31)
      expect(isBitmap).toBe(held.length * LIMITS.bitmapShare >= positions)
      if (isBitmap) expect(own.length).toBe(Math.ceil(positions / 8))
      return [term, held]
    }),
  )
}

export function byUnits(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function bitsOf(bytes: Uint8Array): number[] {
  return Array.from({ length: bytes.length * 8 }, (_, p) => p).filter((p) => ((bytes[p >> 3] ?? 0) >> (p & 7)) & 1)
}

function varintsOf(bytes: Uint8Array): number[] {
  const found: number[] = []
  let [last, value, shift] = [0, 0, 0]
  for (const byte of bytes) {
    value += (byte & 0x7f) * 2 ** shift
    shift += 7
    if (byte >= 0x80) continue
    last += value
    found.push(last)
    ;[value, shift] = [0, 0]
  }
  return found
}

export interface Segment {
  readonly row: Row
  readonly from: number
  readonly positions: number
  readonly postings: ReadonlyMap<string, readonly number[]>
  readonly lengths: readonly number[]
}

export async function readIndex(path: string): Promise<Segment[]> {
  const [rows, blocks] = [await readTable(path, "word_segments"), await readTable(path, "word_blocks")]
  const byRow = new Map(blocks.map((block) => [Number(block["_rowid"]), block]))
  const cover: Segment[] = []
  for (let from = 0; ; ) {
    const starting = rows.filter(({ from_row }) => Number(from_row) === from)
    const row = starting.toSorted((one, other) => Number(other["to_row"]) - Number(one["to_row"]))[0]
    if (row === undefined) return cover
    const id = String(row["id"])
    const positions = Number(row["to_row"]) - from
    const directory = blocks.find(({ segment }) => segment === `${id}/directory`)
    expect(directory?.["block"]).toBe(-1)
    const numbers = numbersOf((directory?.["lists"] ?? new Uint8Array()) as Uint8Array, "float64")
    expect(numbers).toHaveLength(Number(row["blocks"]))
    const postings = new Map<string, number[]>()
    for (const [block, number] of numbers.entries()) {
      const own = byRow.get(number)
      const terms = String(own?.["terms"]).split("\n")
      expect([own?.["segment"], own?.["block"], own?.["first_term"]]).toEqual([id, block, terms[0]])
      expect(String(directory?.["terms"]).split("\n")[block]).toBe(terms[0])
      for (const [term, held] of postingsOf(terms, decompress(id, own?.["lists"]), positions)) postings.set(term, held)
    }
    expect([...postings.keys()]).toEqual([...postings.keys()].toSorted(byUnits))
    const lengths = numbersOf(decompress(id, row["lengths"]), ATTRIBUTES.get("lengths") ?? "")
    cover.push({ row, from, positions, postings, lengths })
    from += positions
  }
}

// --- Terms by the page ------------------------------------------------------------------------------------------------

export function fold(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  const scripts = ["Latin", "Greek", "Cyrillic", "Arabic", "Hebrew"].map((name) => `\\p{Script=${name}}`).join("")
  const bare = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(new RegExp(`([${scripts}])\\p{Mn}+`, "gu"), "$1")
  return bare.replaceAll("ß", "ss").replaceAll("ς", "σ").replaceAll("ـ", "").normalize("NFC")
}

function classOf(character: string) {
  return CLASSES.find(({ pattern }) => pattern.test(character))
}

/** Characters of one kind that stand together, with where they begin, in units. */
export function runsOf(text: string): { kind: string; text: string; start: number; classes: string[] }[] {
  const runs: { kind: string; text: string; start: number; classes: string[] }[] = []
  let start = 0
  for (const character of text) {
    const found = classOf(character)
    const kind = found?.isWord === true ? "word" : (found?.name ?? "other")
    const last = runs.at(-1)
    if (last !== undefined && last.kind === kind && (kind === "word" || kind === "dense")) {
      last.text += character
      last.classes.push(found?.name ?? "")
    } else runs.push({ kind, text: character, start, classes: [found?.name ?? ""] })
    start += character.length
  }
  return runs
}

/** Where a new part begins, in units. */
function cutsOf(text: string, classes: readonly string[]): number[] {
  const cuts: number[] = []
  let start = 0
  for (const [at, character] of [...text].entries()) {
    const [lastButOne, last = "", own] = [classes[at - 2], classes[at - 1], classes[at]]
    if (own === "upper" && ["lower", "digit", "mark"].includes(last)) cuts.push(start)
    if (own === "lower" && last === "upper" && lastButOne === "upper") cuts.push(start - 1)
    start += character.length
  }
  return cuts
}

export function splitWord(text: string, classes: readonly string[]): { word: string; parts: string[] } {
  const cuts = cutsOf(text, classes)
  const isWhole = cuts.length === 0 && !text.includes("_")
  if (isWhole || cuts.length >= LIMITS.cuts || text.length > LIMITS.unitsOfWord)
    return { word: fold(text.slice(0, LIMITS.unitsOfWord)), parts: [] }
  const pieces = [0, ...cuts].map((from, at) => text.slice(from, cuts[at]))
  const parts = pieces
    .flatMap((piece) => piece.split("_"))
    .filter((piece) => piece !== "")
    .map(fold)
  return { word: parts.join(""), parts: parts.length > 1 ? parts : [] }
}

function plainTerms(word: string, hasDigit: boolean): string[] {
  const terms = [word]
  for (const [of = "", what = ""] of PLAIN) {
    const [, withDigit, sign, size] = /… (with|without) a digit, of (≥|>) (\d+) units/.exec(of) ?? []
    const isLong = sign === ">" ? word.length > Number(size) : word.length >= Number(size)
    if ((withDigit === "with") !== hasDigit || !isLong || (hasDigit && !/^[0-9a-f]+$/.test(word))) continue
    for (const [, first, mark] of what.matchAll(/first (\d+) units and `(.)`/g))
      if (word.length >= Number(first)) terms.push(`${word.slice(0, Number(first))}${mark}`)
  }
  return terms
}

function denseTerms(run: string): string[] {
  const characters = [...fold(run)]
  return [...characters, ...characters.slice(1).map((character, at) => `${characters[at]}${character}`)]
}

function wordTerms(word: string, parts: readonly string[], hasDigit: boolean): string[] {
  if (parts.length === 0) return plainTerms(word, hasDigit)
  const pairs = parts.slice(1).map((part, at) => `${parts[at]}${part}`)
  const own = parts.flatMap((part) => plainTerms(part, hasDigit && /\p{N}/u.test(part)))
  return [word, ...own, ...(parts.length > 2 ? pairs : [])]
}

export function termsOf(text: string): Set<string> {
  const terms: string[] = []
  let before = { end: -1, word: "" }
  for (const { kind, text: run, start, classes } of runsOf(text)) {
    if (kind === "picture") terms.push(run)
    if (kind === "dense") terms.push(...denseTerms(run))
    if (kind !== "word") continue
    const { word, parts } = splitWord(run, classes)
    const hasDigit = classes.includes("digit")
    const end = start + run.length
    if (word !== "") terms.push(...wordTerms(word, parts, hasDigit), ...signTerms(text, { start, end, word }, before))
    before = { end, word }
  }
  return new Set(terms.flatMap((term) => term.split(" ")).filter((term) => term !== ""))
}

function signTerms(
  text: string,
  { start, end, word }: { start: number; end: number; word: string },
  before: { end: number; word: string },
): string[] {
  const terms: string[] = []
  if (text.startsWith("++", end)) terms.push(`${word}++`)
  if (text[end] === "#" && classOf(text[end + 1] ?? " ")?.isWord !== true) terms.push(`${word}#`)
  const sign = text[start - 1] ?? ""
  if (!JOINERS.includes(sign)) return terms
  if (before.end === start - 1) return [...terms, `${before.word}${sign}${word}`]
  if (sign !== "-") return terms
  const lead = text[start - 2] === "-" ? text[start - 3] : text[start - 2]
  return lead === undefined || " \t\n\"'`([,".includes(lead) ? [...terms, `-${word}`] : terms
}

interface Spoken {
  readonly ordinal: number
  readonly text: string
}

/** The newest first, while there is room. */
function contextOf(spoken: readonly Spoken[], ordinal: number, units: number): string[] {
  const pieces: string[] = []
  let room = units
  for (const earlier of spoken.slice(-LIMITS.contextMessages).reverse()) {
    const distance = ordinal - earlier.ordinal
    if (room <= 0 || distance <= 0 || distance > LIMITS.contextReach) continue
    pieces.push(earlier.text.slice(0, Math.min(room, LIMITS.contextUnits)))
    room -= pieces.at(-1)?.length ?? 0
  }
  return pieces
}

/** The terms of every message by its row number. */
export function termsOfMessages(rows: readonly Row[]): Map<number, Set<string>> {
  const all = new Map<number, Set<string>>()
  const spoken = new Map<string, Spoken[]>()
  for (const row of rows.toSorted((one, other) => Number(one["_rowid"]) - Number(other["_rowid"]))) {
    const stored = row["search_text"] as string | null
    if (stored === null) continue
    const number = Number(row["_rowid"])
    if (stored.startsWith("pond://blob/")) {
      all.set(number, new Set(String(row["search_terms"]).split(" ")))
      continue
    }
    const content = stored.startsWith("pond://text/") ? stored.slice("pond://text/".length) : stored
    const text = `${row["role"]}: ${content.slice(0, LIMITS.indexed)}`
    const terms = termsOf(text)
    if (content.length > LIMITS.indexed) terms.add("~cut~")
    const own = spoken.get(String(row["session_id"])) ?? []
    spoken.set(String(row["session_id"]), own)
    for (const piece of contextOf(own, Number(row["ordinal"]), LIMITS.fill - text.length))
      for (const term of termsOf(piece)) terms.add(term)
    own.push({ ordinal: Number(row["ordinal"]), text })
    all.set(number, terms)
  }
  return all
}
