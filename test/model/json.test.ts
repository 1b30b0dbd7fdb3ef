import { expect, test } from "bun:test"
import fc from "fast-check"
import {
  canonicalJson,
  differingPointer,
  equalJson,
  type JsonValue,
  LONG_UNITS,
  numberSpelled,
  parseInnerJson,
  parseJson,
  stringifyJson,
  textsOfLength,
} from "../../src/model/json.ts"

/** What a number is written as after it was read: the text of its source where a double cannot hold it. */
const NUMBERS: readonly (readonly [read: string, written: string])[] = [
  ["0", "0"],
  ["1.0", "1"],
  ["1000000000000000000000", "1e+21"],
  ["0.10000000000000000", "0.1"],
  ["-1.2345678901234567e-9", "-1.2345678901234567e-9"],
  ["1.23456789012345678E+5", "1.23456789012345678E+5"],
  ["12e5678", "12e5678"],
  ["1e0400", "1e0400"],
  ["1e2", "100"],
  ["0.0018419999999999999", "0.0018419999999999999"],
  ["9007199254740993", "9007199254740993"],
  ["12345678901234567890123", "12345678901234567890123"],
  ["0.10000000000000000001", "0.10000000000000000001"],
  ["1.00000000000000000001", "1.00000000000000000001"],
  ["1e300", "1e+300"],
  ["1e400", "1e400"],
  ["-1E+400", "-1E+400"],
  ["1e-400", "1e-400"],
  ["1.5E-999", "1.5E-999"],
  ["5e-324", "5e-324"],
  ["4e-324", "4e-324"],
  ["1.7976931348623157e308", "1.7976931348623157e+308"],
]

/** A hundred numbers that no double holds, as a tool prints them. */
function idsFrom(digits: string): string {
  return Array.from({ length: 100 }, (_, index) => `[${digits}${index + 101}]`).join()
}

for (const [read, written] of NUMBERS) {
  for (const [place, text] of [
    ["alone", read],
    ["in a list", `[1,${read},0]`],
    ["first in a list", `[${read},0]`],
    ["last in a list", `[1,${read}]`],
    ["behind white space", `{"a" : ${read} }`],
    ["beside text that looks like it", `{"hex":"4e123, 1e-400 ","a":${read}}`],
    ["behind many hyphens", `{"name":"${"a-".repeat(100)}","a":${read}}`],
    ["behind many halves of exponents", `{"name":"${"e-E-1e-4E-".repeat(100)}","a":${read}}`],
    ["behind the digits of a hash", `{"hash":"a12345678901234567890e-400b","a":${read}}`],
    ["behind JSON in a text", `{"text":"{\\"id\\":10376408755945001340}","a":${read}}`],
    ["behind much JSON in a text", `{"text":"${idsFrom("10376408755945001")}","a":[{"b":${read}}]}`],
    ["between line feeds", `{"a":\n${read}\n}`],
    ["between tabs and returns", `{"a":\t${read}\r}`],
  ] as const) {
    test(`${read} ${place} keeps its value`, () => {
      const parsed = parseJson(text)
      if (!parsed.ok) throw new Error(parsed.reason)
      expect(stringifyJson(parsed.value)).toBe(text.replaceAll(/\s(?=[:}])|(?<=[:])\s/g, "").replace(read, written))
    })
  }
}

test("text that looks like a number is text", () => {
  const text = '{"id":"12345678901234567890123","at":"1e-400"}'
  expect(parseJson(text)).toEqual({ ok: true, value: { id: "12345678901234567890123", at: "1e-400" }, keys: 2 })
})

test("any numbers side by side keep their values, where nothing but them makes their text longer", () => {
  const digits = (maxLength: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${maxLength}}$`))
  const zeros = fc.constantFrom("", "", "0", "000", "000000000000000")
  const whole = fc.constantFrom("0", "1", "7", "12", "999", "1000", "123456", "9999999", "12345678", "9007199254740993")
  const fraction = fc.tuple(zeros, digits(20)).map(([before, rest]) => `.${before}${rest}`)
  const exponent = fc.constantFrom("e1", "E+9", "e-3", "e-99", "e-323", "e-324", "e-400", "E-1000", "e308", "e309")
  const number = fc
    .tuple(whole, fc.option(fraction, { nil: "" }), fc.option(exponent, { nil: "", freq: 3 }))
    .map((pieces) => pieces.join(""))
  const short = fc.constantFrom("1e5", "2e6", "10e5", "3e8", "-4e6")
  const other = fc.constantFrom("0", "5", "42", "-7", "null", "true", "false", '""', "[]", "{}", '"\\n"')
  const item = fc.oneof(number, short, other)
  fc.assert(
    fc.property(fc.array(item, { maxLength: 9 }), fc.array(item, { maxLength: 3 }), (list, fields) => {
      const text = `{"l":[${list.join()}]${fields.map((field, index) => `,"${index}k":${field}`).join("")}}`
      const parsed = parseJson(text)
      if (!parsed.ok) throw new Error(parsed.reason)
      // The slow way: each number beside the text that it was read from.
      const exact = JSON.parse(text, ((_key: string, value: unknown, { source }: { source?: string }) =>
        typeof value === "number" && source !== undefined && !equalJson(value, numberSpelled(source))
          ? numberSpelled(source)
          : value) as (key: string, value: unknown) => unknown)
      expect(stringifyJson(parsed.value)).toBe(stringifyJson(exact))
    }),
    { seed: 13, numRuns: 20_000 },
  )
})

test("a number of a million digits takes no time to speak of, and keeps them all", () => {
  const number = `1${"0".repeat(1_000_000)}1`
  const parsed = parseJson(`{"text":"${number}","number":${number}}`)
  expect(parsed.ok && stringifyJson(parsed.value)).toBe(`{"text":"${number}","number":${number}}`)
})

test("values nested deeper than can be written again are not taken for values", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`
  expect(parseJson(nested(1_900)).ok).toBe(true)
  expect(parseJson(nested(2_100))).toMatchObject({ ok: false, reason: "nested more than 2000 levels deep" })
  expect(parseJson(nested(200_000)).ok).toBe(false)
  expect(parseJson(`{"n":1234567890123456789,"deep":${nested(2_100)}}`).ok).toBe(false)
})

test("equal by value: key order and the spelling of a number make no difference, everything else does", () => {
  const value = (text: string) => {
    const parsed = parseJson(text)
    if (!parsed.ok) throw new Error(parsed.reason)
    return parsed.value
  }
  expect(equalJson(value('{"a":1.0,"b":[1e2]}'), value('{"b":[100],"a":1}'))).toBe(true)
  expect(equalJson(value("1e400"), value("10e399"))).toBe(true)
  expect(differingPointer(value('{"a":{"b":[1,2]}}'), value('{"a":{"b":[1,3]}}'))).toBe("/a/b/1")
  expect(differingPointer(value('{"a/b":"\\ud83d"}'), value('{"a/b":"\\ufffd"}'))).toBe("/a~1b")
})

test("of any two values the canonical texts are the same where the values are equal, and only there", () => {
  const leaf = fc.constantFrom<JsonValue>(null, true, "", "1", "null", "\ud83d", "\ufffd", 0, -0, 1, 10, 1.5, -1)
  const spelled = fc.constantFrom("1e400", "10e399", "1.0", "0.10", "1e1").map((text) => numberSpelled(text))
  const value = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaf,
      spelled,
      fc.array(tie("value"), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom("a", "b", "__proto__", "1"), tie("value"), { maxKeys: 2 }),
    ),
  })).value
  let equal = 0
  fc.assert(
    fc.property(value, value, (left, right) => {
      const isEqual = equalJson(left, right)
      if (isEqual) equal++
      expect(canonicalJson(left) === canonicalJson(right)).toBe(isEqual)
    }),
    { seed: 11, numRuns: 5_000 },
  )
  expect(equal).toBeGreaterThan(50)
})

test("what is noted of a value stays noted when JSON inside one of its texts is parsed", () => {
  const long = "x".repeat(LONG_UNITS)
  const outer = parseJson(JSON.stringify({ a: long, inner: JSON.stringify([long, long]) }))
  if (!outer.ok) throw new Error(outer.reason)
  expect(textsOfLength(outer.value, LONG_UNITS)).toBe(1)
  expect(parseInnerJson((outer.value as { inner: string }).inner).ok).toBe(true)
  expect(textsOfLength(outer.value, LONG_UNITS)).toBe(1)
  parseJson("[]")
  expect(textsOfLength(outer.value, LONG_UNITS)).toBeUndefined()
})
