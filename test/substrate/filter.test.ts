import { afterAll, beforeAll, expect, test } from "bun:test"
import fc from "fast-check"
import {
  and,
  contains,
  eq,
  type Filter,
  type FilterValue,
  filterText,
  isIn,
  isNull,
  matches,
  not,
  or,
  range,
  startsWith,
  stored,
} from "../../src/substrate/filter.ts"
import type { Table } from "../../src/substrate/table.ts"
import { predicateOf } from "../support/memory-filter.ts"
import { SEED } from "../support/seed.ts"
import { EVERY_KIND, type EveryKind, row, type TestStore, testStore } from "./support.ts"

/** Text that would end a literal, start a comment, name a column or be taken for a pattern. */
const HOSTILE = [
  "'",
  "''",
  "' OR '1'='1",
  "'; DROP TABLE every_kind; --",
  "\\",
  "\\'",
  "\u0000",
  "a\u0000b",
  "%",
  "_",
  "`id`",
  '"id"',
  "$1",
  "?",
  "--",
  "/* */",
  "\n\r\t",
  "\u2028\u2029",
  "日本語",
  "😀",
  "\ud83d",
  "\udc00x",
  "\u{10FFFE}",
  "\ue000",
  "",
  " ",
  "NULL",
  "true",
  "İ",
  "ß",
  "ΑΣ",
]

const text = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.tuple(fc.constantFrom(...HOSTILE), fc.constantFrom(...HOSTILE)).map((parts) => parts.join("")),
)
const int32 = fc.oneof(fc.constantFrom(-2147483648, 0, 2147483647), fc.integer({ min: -5, max: 5 }))
const int64 = fc.oneof(fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n), fc.bigInt({ min: -5n, max: 5n }))
const double = fc.oneof(
  fc.constantFrom(0.1, 1e308, -1e-300, 5e-324),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

const VALUES: Readonly<Record<string, fc.Arbitrary<FilterValue>>> = {
  id: text,
  text,
  small: int32,
  large: int64,
  ratio: double,
  is_set: fc.boolean(),
  at: int64,
}
const columnValue = fc
  .constantFrom(...Object.keys(VALUES))
  .chain((column) => fc.tuple(fc.constant(column), VALUES[column] ?? text))

const leaf: fc.Arbitrary<Filter> = fc.oneof(
  columnValue.map(([column, value]) => eq(column, value)),
  fc
    .constantFrom(...Object.keys(VALUES))
    .chain((column) => fc.array(VALUES[column] ?? text, { maxLength: 3 }).map((values) => isIn(column, values))),
  fc
    .tuple(fc.constantFrom("small", "large", "ratio", "at", "text"), fc.boolean(), fc.boolean())
    .chain(([column, fromExclusive, toExclusive]) =>
      fc
        .tuple(
          fc.option(VALUES[column] ?? text, { nil: undefined }),
          fc.option(VALUES[column] ?? text, { nil: undefined }),
        )
        .map(([from, to]) =>
          range(column, {
            ...(from === undefined ? {} : { from }),
            ...(to === undefined ? {} : { to }),
            fromExclusive,
            toExclusive,
          }),
        ),
    ),
  fc.tuple(fc.constantFrom("id", "text"), text).map(([column, part]) => contains(column, part)),
  fc.tuple(fc.constantFrom("id", "text"), text).map(([column, part]) => contains(column, part, true)),
  fc.tuple(fc.constantFrom("id", "text"), text).map(([column, part]) => startsWith(column, part)),
  fc.constantFrom(...Object.keys(VALUES)).map(isNull),
  fc.tuple(fc.nat(70), fc.option(fc.nat(70), { nil: undefined })).map(([from, to]) => stored(from, to)),
)

const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie("filter"), { maxLength: 3 }).map((filters) => and(...filters)),
    fc.array(tie("filter"), { maxLength: 3 }).map((filters) => or(...filters)),
    tie("filter").map(not),
  ),
}))

// --- The properties ---------------------------------------------------------------------------------------------------

let place: TestStore
let table: Table<typeof EVERY_KIND.columns>
let rows: EveryKind[]

beforeAll(async () => {
  place = testStore()
  table = place.store.table(EVERY_KIND)
  const random = fc.sample(
    fc.record({
      text: fc.option(text),
      small: fc.option(int32),
      large: fc.option(int64),
      ratio: fc.option(double),
      is_set: fc.option(fc.boolean()),
      at: fc.option(int64),
    }),
    { numRuns: 40, seed: SEED },
  )
  rows = [
    ...HOSTILE.map((hostile, index) => row(hostile, { text: HOSTILE[HOSTILE.length - 1 - index] ?? "" })),
    ...random.map((values, index) => row(`random-${index}`, values)),
  ]
  await table.insertAbsent(rows)
})

afterAll(() => place[Symbol.dispose]())

const ROUNDS = Number(process.env["POND_FUZZ_ROUNDS"] ?? 250)

test("the engine keeps the rows that the store in memory would keep, whatever the filter holds", async () => {
  const property = fc.asyncProperty(filter, async (where) => {
    const found = await table.read({ columns: ["id"], where })
    const passes = predicateOf(EVERY_KIND, where)
    const want = rows.filter((values, number) => passes({ number, values }))
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set(want.map(({ id }) => id)))
    expect(found.length).toBe(want.length)
  })
  await fc.assert(property, { seed: SEED, numRuns: ROUNDS })
})

test("a pattern of a quoted text finds what holds the text", async () => {
  const quotedPattern = (plain: string) => plain.replaceAll(/[\\^$.|?*+()[\]{}\-&~#\s]/gu, "\\$&")
  for (const part of HOSTILE.filter((hostile) => hostile.isWellFormed() && !/\s/u.test(hostile))) {
    const found = await table.read({ columns: ["id"], where: matches("text", quotedPattern(part)) })
    const want = rows.filter((of) => of.text?.includes(part) === true)
    expect(new Set(found.map(({ id }) => id)), part).toEqual(new Set(want.map(({ id }) => id)))
  }
})

test("a literal of a megabyte is taken", async () => {
  const long = "'\\".repeat(500_000)
  expect(await table.count(or(eq("text", long), contains("text", long), eq("id", "'")))).toBe(1)
})

test("a name that the table does not declare never reaches the engine", () => {
  for (const column of ["other", "id` = id OR `id", "__proto__", "constructor", "", "_rowid", "ID"]) {
    expect(() => filterText(EVERY_KIND, eq(column, "a"))).toThrow("names a column")
    expect(() => filterText(EVERY_KIND, not(and(isNull(column))))).toThrow("names a column")
  }
})

test("a value of another kind than its column never reaches the engine", () => {
  const wrong: readonly (readonly [column: string, value: FilterValue])[] = [
    ["text", 1],
    ["small", "1"],
    ["small", 0.5],
    ["large", 2n ** 63n],
    ["large", Number.MAX_SAFE_INTEGER + 1],
    ["is_set", "true"],
    ["at", "2024-01-01"],
    ["ratio", 1n],
    ["near", 1],
    ["payload", "x"],
  ]
  for (const [column, value] of wrong) expect(() => filterText(EVERY_KIND, eq(column, value))).toThrow("asked a")
  expect(() => filterText(EVERY_KIND, contains("small", "1"))).toThrow("text column")
})
