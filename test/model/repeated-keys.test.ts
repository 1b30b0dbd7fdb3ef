import { expect, test } from "bun:test"
import { parseJson } from "../../src/model/json.ts"
import { repeatedKey } from "../../src/model/repeated-keys.ts"

function found(text: string): string | undefined {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(parsed.reason)
  return repeatedKey(text, parsed.keys)
}

test.each([
  [`{"a":1,"a":2}`, "a"],
  [`[{"b":{"a":1 , "a" : 2}}]`, "a"],
  [`{"a":{"x":1},"b":{"x":1},"b":3}`, "b"],
  [`{"\\u0061":1,"a":2}`, "a"],
  [`{"q\\"":1,"q\\"":2}`, 'q"'],
  [`{"":1,"":2}`, ""],
  [`{"a":1,"a" :2}`, "a"],
  [`{"a":1,"a"\n\t:2}`, "a"],
  [`{"a":1e400,"a":12345678901234567890}`, "a"],
  [`{"__proto__":1,"__proto__":2}`, "__proto__"],
])("%s has a key twice", (text, key) => {
  expect(found(text)).toBe(key)
})

test.each([
  `{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}`,
  `{"a":": x","b":"\\":","c":"{\\"a\\":1,\\"a\\":2}"}`,
  `{"a\\\\":1,"b":"\\\\"}`,
  `{"a" :1, "b" : "}{"}`,
  `{"a":"one : two","b":" :"}`,
  `{"a":12345678901234567890,"b":[{"a":1}]}`,
  `"a"`,
  `[]`,
])("%s has none", (text) => {
  expect(found(text)).toBeUndefined()
})
