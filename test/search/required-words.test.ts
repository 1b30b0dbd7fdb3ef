import { expect, test } from "bun:test"
import { seededRandom } from "../../src/platform/host/random.ts"
import { findPrefiltered as findSome } from "../../src/search/exact/prefilter.ts"
import { findRequiredWords, type Needle } from "../../src/search/exact/required-words.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { indexTerms } from "../../src/sessions/words/terms/tokenizer.ts"
import { and, type Filter } from "../../src/substrate/filter.ts"
import { memorySessions, said, session } from "../sessions/support.ts"

async function findNarrowed(sessions: Sessions, stretch: Needle, where: Filter) {
  const found = await findSome(sessions, { stretch, where, limit: Number.POSITIVE_INFINITY, isOver: () => false })
  expect(found?.before).toBeUndefined()
  return found?.hits
}

const exactly = (text: string): Needle => ({ text, isCaseBlind: false })

test.each<[string, string[]]>([
  ["one", []],
  ["snake_case_name", []],
  ["two words", []],
  ["rror: cannot find modu", ["cannot", "find"]],
  ["src/services/auth/login.ts", ["services", "auth", "login"]],
  ["a camelCaseName z", ["camelcasename", "camel", "case", "name", "camelcase", "casename"]],
  [" whole ", ["whole"]],
  ["🚀", ["🚀"]],
  ["据库", ["据", "据库", "库"]],
  // What comes behind the last one may become part of it.
  ["データベ", ["デ", "デー", "ー", "ータ", "タ"]],
  ["한국어 데", ["한", "한국", "국"]],
  ["", []],
  ["...", []],
])("of %j these words are certain", (stretch, want) => {
  expect(findRequiredWords(stretch)).toEqual(want)
})

test("every text that holds a stretch has its certain words among its terms", () => {
  const texts = [
    "Error: Cannot find module 'lib/fooBar_baz.ts' at HTTPServer.listen (v1.4.4-rc.2) --json-output",
    "Straße, Müller und Ähre; C++ and C# in 数据库的 移行 データベース: İstanbul ŉ café",
    "a-b c.d e/f g:h i@j 9f3c2ab17d2e 127.0.0.1:8080 x² ½ ﬁle ＡＢＣ",
    "ฐานข้อมูล ย้าย base64==AAAA__BBBB 한국어 데이터베이스 e\u0301te\u0301 \u0301x y",
    "か\u3099きくは\u309aけこ ｶﾞｷﾞｸﾊﾟﾋﾟｺ x\u3099か λο\u0301γα\u0308ς",
  ]
  let checked = 0
  for (const text of texts) {
    const held = new Set(indexTerms(text))
    for (let from = 0; from < text.length; from++) {
      for (let to = from + 1; to <= Math.min(text.length, from + 40); to++) {
        for (const word of findRequiredWords(text.slice(from, to))) {
          checked += 1
          if (!held.has(word)) throw new Error(`${JSON.stringify(text.slice(from, to))} is not sure of ${word}`)
        }
      }
    }
  }
  expect(checked).toBeGreaterThan(10_000)
})

test("a search that the index narrows finds what a look at every text finds, far into a long one too", async () => {
  using place = memorySessions()
  const paste = `${"lorem ipsum ".repeat(20_000)} the needle in here`
  await place.sessions.write([
    {
      session: session("s"),
      entries: [
        said("s", 0, "find the needle in hereabouts"),
        said("s", 1, "the needle is in here"),
        said("s", 2, paste),
        said("s", 3, "breathe needle in here"),
        said("s", 4, "कमलपन\u093c"),
      ],
    },
  ])
  for (const isIndexed of [false, true]) {
    if (isIndexed) await place.sessions.maintain("all")
    const hits = await findNarrowed(place.sessions, exactly("the needle in here"), and())
    expect(hits?.map(({ messageId }) => messageId).toSorted()).toEqual(["m0", "m2", "m3"])
    if (!isIndexed) continue
    // The mark behind it makes another letter of its last one.
    const joined = await findNarrowed(place.sessions, exactly("कमलपन"), and())
    expect(joined?.map(({ messageId }) => messageId)).toEqual(["m4"])
  }
  // Only the list of words, which is made with the index, knows which words hold another.
  using bare = memorySessions()
  await bare.sessions.write([{ session: session("s"), entries: [said("s", 0, "find the needle")] }])
  expect(await findNarrowed(bare.sessions, exactly("needle"), and())).toBeUndefined()
  await bare.sessions.maintain("all")
  expect(await findNarrowed(bare.sessions, exactly("needle"), and())).toHaveLength(1)
})

// --- Texts of every kind, and every stretch of them ----------------------------------------------------------------------

/** Pieces that words are made of, and what stands between them. */
const PIECES =
  "parse Config _ __ HTTP server ERR 404 9f3c2ab - / . : @ \\ ( ) + # ' \t \n 数据库 検索 データベース が か\u3099 ｶ\uff9e 한국어 \u1112\u1161\u11ab ฐานข้อมูล ำ é e\u0301 \u0301 İ ı ß ς Σ ﬁ ＡＢ 𝐀𝐛 ½ ² 🚀 👩\u200d💻 1\ufe0f\u20e3 й и\u0306 \u09c7\u09be \u0915\u094d\u0937 ﷺ سلام".split(
    " ",
  )

function textsOf(seed: number, count: number): string[] {
  const random = seededRandom(seed)
  const pick = () => PIECES[Math.floor(random.next() * PIECES.length)] ?? ""
  return Array.from({ length: count }, () =>
    Array.from({ length: 3 + Math.floor(random.next() * 12) }, () => pick() + (random.next() < 0.3 ? " " : "")).join(
      "",
    ),
  )
}

/** `long` is more than a word of the index has, and more than a line of the list. */
const ODD = ["x".repeat(70), `${"aB".repeat(14)}_tail`, `deep_${"y".repeat(5_000)}_end`, "z".repeat(64)]

async function narrowedIds(sessions: Sessions, stretch: Needle): Promise<string[] | undefined> {
  const hits = await findNarrowed(sessions, stretch, and())
  return hits?.map(({ messageId }) => messageId).toSorted()
}

test("whatever stretch of whatever text: where the index narrows, it finds what a look at every text finds", async () => {
  using place = memorySessions()
  const texts = [...textsOf(3, 120), ...ODD, ...ODD.map((odd) => `behind ${odd}.`)]
  const write = (from: number, to: number) =>
    place.sessions.write([
      {
        session: session(`s${from}`),
        entries: texts.slice(from, to).map((text, at) => said(`s${from}`, at, `q${text}q`, { id: `m${from + at}` })),
      },
    ])
  await write(0, 90)
  await place.sessions.maintain("all")
  // Some in a second list, and some in none.
  await write(90, 110)
  await place.sessions.maintain("all")
  await write(110, texts.length)
  const random = seededRandom(5)
  let narrowed = 0
  for (let round = 0; round < 400; round++) {
    const text = texts[Math.floor(random.next() * texts.length)] ?? ""
    const from = Math.floor(random.next() * text.length)
    const part = text.slice(from, from + 1 + Math.floor(random.next() * 14))
    const isCaseBlind = round % 4 === 0
    const wanted = isCaseBlind ? part.toUpperCase() : part
    // Half a pair is no text that could be stored beside its other half.
    if (!wanted.isWellFormed()) continue
    const found = await narrowedIds(place.sessions, { text: wanted, isCaseBlind })
    if (found === undefined) continue
    narrowed += 1
    const holds = (each: string) =>
      isCaseBlind ? each.toLowerCase().includes(wanted.toLowerCase()) : each.includes(wanted)
    const want = texts.flatMap((each, at) => (holds(`q${each}q`) ? [`m${at}`] : [])).toSorted()
    expect(found, JSON.stringify(wanted)).toEqual(want)
  }
  expect(narrowed).toBeGreaterThan(200)
}, 60_000)
