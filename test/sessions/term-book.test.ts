import { expect, test } from "bun:test"
import { seededRandom } from "../../src/platform/random.ts"
import { indexTerms } from "../../src/sessions/search-terms.ts"
import { createTermBook } from "../../src/sessions/term-book.ts"

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

test.each([0, 50, 1_000_000])("a book of at most %i terms finds the terms that each text has by itself", (termsMax) => {
  const book = createTermBook(termsMax)
  const given = texts(2_500)
  let editions = new Set<number>()
  let compared = 0
  for (const [index, text] of given.entries()) {
    book.tidy()
    editions = editions.add(book.edition)
    const before = given[index - 1] ?? ""
    const terms = [...indexTerms(text), "~mark~", ...indexTerms(before)].flatMap((term) => term.split(" "))
    const wanted = new Set(terms.filter((term) => term !== ""))
    compared += wanted.size
    const lists = [book.read(text), book.term("~mark~"), book.read(before)]
    const found = lists.flatMap(({ numbers }) => [...numbers].map((number) => book.text(number)))
    expect([...new Set(found)]).toEqual([...wanted])
  }
  expect(compared).toBeGreaterThan(50_000)
  expect(editions.size > 1).toBe(termsMax < 1_000_000)
})

test("a text is read in the order it stands in, each word as often as it is there", () => {
  const book = createTermBook()
  const { numbers } = book.read("to be or not to be")
  expect([...numbers].map((number) => numbers.indexOf(number))).toEqual([0, 1, 2, 3, 0, 1])
})
