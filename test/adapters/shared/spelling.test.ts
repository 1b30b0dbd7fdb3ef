import { expect, test } from "bun:test"
import { spelled, spellingOf } from "../../../src/adapters/shared/spelling.ts"
import { type JsonValue, parseJson } from "../../../src/model/json.ts"

function parsed(line: string): JsonValue {
  const result = parseJson(line)
  if (!result.ok) throw new Error(`no JSON: ${line}`)
  return result.value
}

test.each([
  ["a fraction of zero", '{"a":{"used_percent":0.0},"b":[1.50,2]}'],
  ["an exponent", '{"big":1e16,"small":2E-3,"list":[1.0e2]}'],
  ["a zero with a sign", '{"n":-0,"m":[-0.0]}'],
  ["a key with a slash and a tilde", '{"a/b":{"~c":7.0}}'],
  ["a number that only a text can hold", '{"id":12345678901234567890,"x":1.0}'],
  ["spaces", '{"a": 1, "b": [1, 2]}'],
  ["escapes that JSON does not need", '{"a":"\\u65e5\\/"}'],
  ["a carriage return at the end", '{"a":1}\r'],
  ["an escape in a file of terse lines", '{"a":"\\u001b[0m"}'],
])("a line comes back byte for byte: %s", (_, line) => {
  expect(spelled(parsed(line), spellingOf(line, parsed(line)))).toBe(line)
})

test("of a line whose numbers alone are spelled otherwise, only those numbers are kept", () => {
  const line = '{"a":{"used_percent":0.0},"b":"0.0,","c":[1.50,2]}'
  expect(spellingOf(line, parsed(line))).toEqual({ "/a/used_percent": "0.0", "/c/0": "1.50" })
})

test("a line that comes back anyway needs nothing", () => {
  for (const line of ['{"a":1.5,"t":"version 1.0, and 2e4","u":"日本"}', "{}"]) {
    expect(spellingOf(line, parsed(line))).toBeUndefined()
    expect(spelled(parsed(line), undefined)).toBe(line)
  }
})
