/** Objects told from their bytes alone: never of what a parser refuses, and of nearly all that pond itself writes. */
import { expect, test } from "bun:test"
import { isJsonObject, parseOwnJson } from "../../src/model/json.ts"
import { isSurelyObject } from "../../src/model/json-bytes.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { SEED } from "../support/seed.ts"

const encode = (text: string) => new TextEncoder().encode(text)

/** Where the bytes of others stand before and behind it. */
function isSure(text: string, [before, behind] = ['{"a":', '}},"b":1}']): boolean {
  const [first, own] = [encode(before), encode(text)]
  return isSurelyObject(Buffer.concat([first, own, encode(behind)]), first.length, first.length + own.length)
}

function isObject(text: string): boolean {
  const parsed = parseOwnJson(text)
  return parsed.ok && isJsonObject(parsed.value)
}

test.each([
  "{}",
  '{"a":1}',
  '{"a":-0.5,"b":0,"c":120}',
  '{"a":[],"b":{},"c":[[],{}],"d":[1,"x",null,true,false]}',
  '{"":"","é":"💡","quoted":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D"}',
  '{"a":{"b":{"c":[{"d":[1,2,{"e":"}"}]}]}}}',
])("an object is told: %s", (text) => {
  expect(isObject(text)).toBe(true)
  expect(isSure(text)).toBe(true)
})

test.each([
  "",
  "{",
  "}",
  "[]",
  "1",
  '"{}"',
  "{}}",
  "{}{}",
  '{"a":1',
  '{"a":1]',
  '{"a":1}}',
  '{"a":1},',
  '{"a":1,}',
  '{"a":[1,]}',
  '{"a":[1}',
  '{"a":}',
  '{"a"}',
  '{"a",1}',
  "{a:1}",
  "{1:1}",
  '{"a":01}',
  '{"a":-}',
  '{"a":.5}',
  '{"a":1.}',
  '{"a":+1}',
  '{"a":tru}',
  '{"a":nulL}',
  '{"a":truefalse}',
  '{"a":"\u0001"}',
  '{"a":"\\x"}',
  '{"a":"\\u12g4"}',
  '{"a":"\\u12"}',
  '{"a":"\\"}',
  '{"a":"b}',
  '{"a" "b"}',
  '{"a":1 "b":2}',
  '{"a":[1 2]}',
  '{"a":{]}',
  '{"a":[}]}',
])("what is no object is not taken for one: %s", (text) => {
  expect(isObject(text)).toBe(false)
  expect(isSure(text)).toBe(false)
})

test("what is nested too deeply to be told is left to the parser", () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`
  expect(isSure(nested(30))).toBe(true)
  expect(isSure(nested(31))).toBe(false)
  expect(isSure(`{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`)).toBe(false)
})

/** Pieces of which objects are made, in any order. */
const PIECES = '{ } [ ] , : "a" "b\\n" "\\u00e9" " \\ 0 1 -2.5 1e5 . true null {"a":1} [2] "": '.split(" ")

test("no sequence of pieces is told to be an object that a parser refuses", () => {
  const random = seededRandom(SEED)
  const among = (items: readonly string[]) => items[Math.floor(random.next() * items.length)] ?? ""
  let told = 0
  for (let round = 0; round < 40_000; round++) {
    const length = Math.floor(random.next() * 9)
    const text = `{${Array.from({ length }, () => among(PIECES)).join("")}${random.next() < 0.8 ? "}" : ""}`
    if (!isSure(text, [among(PIECES), among(PIECES)])) continue
    told++
    expect(isObject(text), `POND_SEED=${SEED} ${text}`).toBe(true)
  }
  expect(told).toBeGreaterThan(50)
})
