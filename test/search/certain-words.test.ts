import { expect, test } from "bun:test"
import { certainWords, findNarrowed } from "../../src/search/certain-words.ts"
import { indexTerms } from "../../src/sessions/search-terms.ts"
import { and } from "../../src/substrate/filter.ts"
import { said, session, testSessions } from "../sessions/support.ts"

test.each<[string, string[]]>([
  ["one", []],
  ["snake_case_name", []],
  ["two words", []],
  ["rror: cannot find modu", ["cannot", "find"]],
  ["src/services/auth/login.ts", ["services", "auth", "login"]],
  ["a camelCaseName z", ["camelcasename", "camel", "case", "name", "camelcase", "casename"]],
  [" whole ", ["whole"]],
  ["据库", ["据", "据库", "库"]],
  ["", []],
  ["...", []],
])("of %j these words are certain", (stretch, want) => {
  expect(certainWords(stretch)).toEqual(want)
})

test("every text that holds a stretch has its certain words among its terms", () => {
  const texts = [
    "Error: Cannot find module 'lib/fooBar_baz.ts' at HTTPServer.listen (v1.4.4-rc.2) --json-output",
    "Straße, Müller und Ähre; C++ and C# in 数据库的 移行 データベース: İstanbul ŉ café",
    "a-b c.d e/f g:h i@j 9f3c2ab17d2e 127.0.0.1:8080 x² ½ ﬁle ＡＢＣ",
    "ฐานข้อมูล ย้าย base64==AAAA__BBBB 한국어 데이터베이스 e\u0301te\u0301 \u0301x y",
  ]
  let checked = 0
  for (const text of texts) {
    const held = new Set(indexTerms(text))
    for (let from = 0; from < text.length; from++) {
      for (let to = from + 1; to <= Math.min(text.length, from + 40); to++) {
        for (const word of certainWords(text.slice(from, to))) {
          checked += 1
          if (!held.has(word)) throw new Error(`${JSON.stringify(text.slice(from, to))} is not sure of ${word}`)
        }
      }
    }
  }
  expect(checked).toBeGreaterThan(10_000)
})

test("a search that the index narrows finds what a look at every text finds, far into a long one too", async () => {
  using place = testSessions()
  const paste = `${"lorem ipsum ".repeat(20_000)} the needle in here`
  await place.sessions.write([
    {
      session: session("s"),
      entries: [
        said("s", 0, "find the needle in hereabouts"),
        said("s", 1, "the needle is in here"),
        said("s", 2, paste),
        said("s", 3, "breathe needle in here"),
      ],
    },
  ])
  for (const isIndexed of [false, true]) {
    if (isIndexed) await place.sessions.maintain("all")
    const hits = await findNarrowed(place.sessions, "the needle in here", and())
    expect(hits?.map(({ messageId }) => messageId).toSorted()).toEqual(["m0", "m2", "m3"])
  }
  expect(await findNarrowed(place.sessions, "needle", and())).toBeUndefined()
})
