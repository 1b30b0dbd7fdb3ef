import { expect, test } from "bun:test"
import { seededRandom } from "../../src/platform/random.ts"
import { indexTerms } from "../../src/sessions/search-terms.ts"
import { createTermBook } from "../../src/sessions/term-book.ts"

/** What texts are made of here: every class of characters, pairs and halves of pairs, and all that joins words. */
const PIECES = [
  ...'aZ0_ .-/:@\\+#\n"~*é\u0301ßςŉﬁ½Ａ中文語ก한グ👍𝔄𐐀\ud800\udc00\u00ad',
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

test.each([0, 50, 1_000_000])("a book of at most %i terms finds the terms that each text has by itself", (termsMax) => {
  const book = createTermBook(termsMax)
  const given = texts(2_500)
  let editions = new Set<number>()
  let terms = 0
  for (const [index, text] of given.entries()) {
    book.tidy()
    editions = editions.add(book.edition)
    const before = given[index - 1] ?? ""
    const wanted = new Set([...indexTerms(text), "~mark~", ...indexTerms(before)])
    terms += wanted.size
    expect(book.joined([book.read(text), book.term("~mark~"), book.read(before)])).toBe([...wanted].join(" "))
  }
  expect(terms).toBeGreaterThan(50_000)
  expect(editions.size > 1).toBe(termsMax < 1_000_000)
})

test("a text is read in the order it stands in, each word as often as it is there", () => {
  const book = createTermBook()
  const { numbers } = book.read("to be or not to be")
  expect([...numbers].map((number) => numbers.indexOf(number))).toEqual([0, 1, 2, 3, 0, 1])
})
