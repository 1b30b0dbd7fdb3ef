import { expect, test } from "bun:test"
import { seededRandom } from "../../../src/platform/host/random.ts"
import {
  createTermInterner,
  openTermInterners,
  type TermInterner,
} from "../../../src/sessions/words/terms/term-interner.ts"
import { compare, indexTerms } from "../../../src/sessions/words/terms/tokenizer.ts"

/** What texts are made of here: every class of characters, pairs and halves of pairs, and all that joins words. */
const PIECES = [
  ...'aZ0_ .-/:@\\+#\n"~*é\u0301ßςŉﬁ½ﷺＡ中文語ก한グ👍𝔄𐐀\ud800\udc00\u00ad',
  ...[
    "lore",
    "HTTPServer",
    "snake_case",
    "deadbeef01",
    "login.ts",
    "c++",
    "C#",
    "--flag",
    "x".repeat(70),
    "ab".repeat(9),
  ],
  ...[" ", " ", " ", " "],
]

function texts(count: number): string[] {
  const random = seededRandom(11)
  const below = (end: number) => Math.floor(random.next() * end)
  return Array.from({ length: count }, () =>
    Array.from({ length: below(30) }, () => PIECES[below(PIECES.length)]).join(""),
  )
}

/** As units in an array that goes on behind them, as the text before may have been longer. */
function unitsOf(text: string): [Uint16Array, number] {
  const bytes = Buffer.from(`${text}-c++ x`, "utf16le")
  return [new Uint16Array(new Uint8Array(bytes).buffer), text.length]
}

test.each([0, 50, 1_000_000])("books of at most %i terms find those that each message has by itself", (termsMax) => {
  const bookOfNow = openTermInterners(termsMax)
  const given = texts(2_500)
  const books = new Set<TermInterner>()
  let compared = 0
  for (const [index, text] of given.entries()) {
    const book = bookOfNow()
    books.add(book)
    const before = given[index - 1] ?? ""
    const terms = [...indexTerms(text), "~mark~", ...indexTerms(before)].flatMap((term) => term.split(" "))
    const wanted = new Set(terms.filter((term) => term !== ""))
    compared += wanted.size
    book.begin()
    book.read(...unitsOf(before))
    const met = book.met().slice()
    book.begin()
    book.read(...unitsOf(text))
    book.addTerm("~mark~")
    book.addMet(met)
    expect([...book.met()].map((number) => book.text(number))).toEqual([...wanted])
  }
  expect(compared).toBeGreaterThan(50_000)
  expect(books.size > 1).toBe(termsMax < 1_000_000)
})

test("a message has each word once, and the next message has it again", () => {
  const book = createTermInterner()
  const met = () => [...book.met()].map((number) => book.text(number))
  book.begin()
  book.read(...unitsOf("to be or not to be"))
  expect(met()).toEqual(["to", "be", "or", "not"])
  book.begin()
  book.read(...unitsOf("not to be"))
  expect(met()).toEqual(["not", "to", "be"])
})

test("the terms of a book stand in their order whenever they are asked for", () => {
  const book = createTermInterner()
  const inOrder = () => book.inOrder().map((number) => book.text(number))
  expect(inOrder()).toEqual([])
  for (const some of [["b", "\uffff"], ["a", "c", "\ud800\udc00"], [], ["B", "d"]]) {
    for (const term of some) book.addTerm(term)
    expect(inOrder()).toEqual(inOrder().toSorted(compare))
    expect(inOrder()).toContain(some.at(-1) ?? "c")
  }
  expect(inOrder()).toHaveLength(book.size)
  expect(book.size).toBe(7)
})
