/** Foreign JSON is changed at one place, and nowhere else. */
import { expect, test } from "bun:test"
import { NotEditable } from "../../src/platform/edit/editable.ts"
import {
  addToJsonList,
  removeFromJson,
  removeFromJsonList,
  setInJson,
  valueInJson,
} from "../../src/platform/edit/json-edit.ts"

const PATH = ["mcpServers", "pond"]
const ENTRY = { type: "stdio", command: "/usr/bin/pond", args: ["mcp"] }

const EDITS: readonly (readonly [name: string, before: string, after: string])[] = [
  [
    "no text",
    "",
    '{\n  "mcpServers": {\n    "pond": {\n      "type": "stdio",\n      "command": "/usr/bin/pond",\n      "args": ["mcp"]\n    }\n  }\n}\n',
  ],
  [
    "a comment behind the last member",
    '{\n  "a": 1 // one\n}\n',
    '{\n  "a": 1, // one\n  "mcpServers": {\n    "pond": {\n      "type": "stdio",\n      "command": "/usr/bin/pond",\n      "args": ["mcp"]\n    }\n  }\n}\n',
  ],
  [
    "tabs and trailing commas",
    '{\n\t"mcpServers": {\n\t\t"x": {}, // c\n\t},\n}',
    '{\n\t"mcpServers": {\n\t\t"x": {}, // c\n\t\t"pond": {\n\t\t\t"type": "stdio",\n\t\t\t"command": "/usr/bin/pond",\n\t\t\t"args": ["mcp"]\n\t\t},\n\t},\n}',
  ],
  [
    "CRLF",
    '{\r\n  "mcpServers": {\r\n    "x": {}\r\n  }\r\n}\r\n',
    '{\r\n  "mcpServers": {\r\n    "x": {},\r\n    "pond": {\r\n      "type": "stdio",\r\n      "command": "/usr/bin/pond",\r\n      "args": ["mcp"]\r\n    }\r\n  }\r\n}\r\n',
  ],
  [
    "one line",
    '{ "mcpServers": { "x": {} } }',
    '{ "mcpServers": { "x": {}, "pond": { "type": "stdio", "command": "/usr/bin/pond", "args": ["mcp"] } } }',
  ],
  [
    "an older entry, of which other keys stay",
    '{"n": 12345678901234567890, "mcpServers": {"pond": {"command": "old", "env": {"A": "1"}, "args": ["mcp"], "type": "stdio"}}}',
    '{"n": 12345678901234567890, "mcpServers": {"pond": {"command": "/usr/bin/pond", "env": {"A": "1"}, "args": ["mcp"], "type": "stdio"}}}',
  ],
  [
    "an object that is empty",
    '{\n  "mcpServers": {}\n}\n',
    '{\n  "mcpServers": {\n    "pond": {\n      "type": "stdio",\n      "command": "/usr/bin/pond",\n      "args": ["mcp"]\n    }\n  }\n}\n',
  ],
  [
    "CRLF behind a comment",
    '{\r\n  "mcpServers": { "x": {} }, // one\r\n  "b": 2 // two\r\n}\r\n',
    '{\r\n  "mcpServers": { "x": {}, "pond": { "type": "stdio", "command": "/usr/bin/pond", "args": ["mcp"] } }, // one\r\n  "b": 2 // two\r\n}\r\n',
  ],
  [
    "the place of a value that is no object",
    '{\n  "mcpServers": {\n    "pond": false\n  }\n}\n',
    '{\n  "mcpServers": {\n    "pond": {\n      "type": "stdio",\n      "command": "/usr/bin/pond",\n      "args": ["mcp"]\n    }\n  }\n}\n',
  ],
  [
    "an entry that says the same in another spelling",
    '{ "mcpServers": { "pond": { "args": [ "m\\u0063p" ], "command": "\\/usr\\/bin\\/pond", "type": "stdio" } } }',
    '{ "mcpServers": { "pond": { "args": [ "m\\u0063p" ], "command": "\\/usr\\/bin\\/pond", "type": "stdio" } } }',
  ],
  [
    "a text that looks like JSON inside a text",
    '{"note": "\\"mcpServers\\": { // no", "mcpServers": {"x": {}}}',
    '{"note": "\\"mcpServers\\": { // no", "mcpServers": {"x": {}, "pond": { "type": "stdio", "command": "/usr/bin/pond", "args": ["mcp"] }}}',
  ],
]

test.each(EDITS.map(([name, before, after]) => ({ name, before, after })))(
  "sets a key in $name",
  ({ before, after }) => {
    expect(setInJson(before, PATH, ENTRY)).toBe(after)
    expect(setInJson(after, PATH, ENTRY)).toBe(after)
    expect(valueInJson(after, PATH)).toMatchObject(ENTRY)
  },
)

const REFUSED = [
  '{"a": 1',
  "{a: 1}",
  "[1, 2",
  '{"a": 1} {}',
  '{"a" 1}',
  '{"a": 01x}',
  "/* open",
  '{"a": "x\n"}',
  '{"mcpServers": 7}',
  '{"a": 1 "b": 2}',
  '{"a" 12}',
  '{"a": }',
  '{"a": nope}',
]

test.each(REFUSED)("refuses %j", (text) => {
  expect(() => setInJson(text, PATH, ENTRY)).toThrow(NotEditable)
})

/** The same on every run. */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** JSON as people write it by hand: comments anywhere, odd spaces, trailing commas. `depth` bounds it. */
function written(roll: (below: number) => number, depth: number, eol: string): string {
  const blank = () => ["", " ", eol, `${eol}\t`, `// note "}" ${eol}`, "/* { */", `${eol}  `][roll(7)] ?? ""
  if (depth === 0 || roll(3) === 0)
    return (
      ["1", "-2.50e+3", "true", "false", "null", '"a \\" // b"', '"é\\ud800"', "98765432109876543210"][roll(8)] ?? "0"
    )
  const items = Array.from({ length: roll(4) }, (_, index) => {
    const value = written(roll, depth - 1, eol)
    return { key: `"k${index}"`, value }
  })
  const tail = items.length > 0 && roll(3) === 0 ? "," : ""
  if (roll(4) === 0) return `[${items.map(({ value }) => `${blank()}${value}${blank()}`).join(",")}${tail}${blank()}]`
  return `{${items.map(({ key, value }) => `${blank()}${key}${blank()}:${blank()}${value}${blank()}`).join(",")}${tail}${blank()}}`
}

const bare = (text: string) => text.replace(/\s+/g, "")

test("whatever the text looks like, the key is set, nothing else changes, and taking it out again leaves at most white space", () => {
  for (let seed = 1; seed <= 800; seed++) {
    const roll = dice(seed)
    const eol = roll(2) === 0 ? "\n" : "\r\n"
    const inner = written(roll, 3, eol)
    const text = `{${eol}  "before": ${inner},${eol}  "servers": { "other": ${written(roll, 2, eol)} },${eol}  "after": ${written(roll, 2, eol)}${eol}}`
    const edited = setInJson(text, ["servers", "pond"], ENTRY)
    const where = `seed ${seed}: ${JSON.stringify(text)}`
    expect(valueInJson(edited, ["servers", "pond"]), where).toEqual(ENTRY)
    for (const path of [["before"], ["after"], ["servers", "other"]]) {
      expect(valueInJson(edited, path), where).toEqual(valueInJson(text, path))
    }
    expect(bare(removeFromJson(edited, ["servers", "pond"])), where).toBe(bare(text))
  }
})

test("the last member takes the comma before it along, and a key that is not there changes nothing", () => {
  expect(removeFromJson('{\n  "a": 1,\n  "b": 2\n}', ["b"])).toBe('{\n  "a": 1\n}')
  expect(removeFromJson('{\n  "a": 1,\n  "b": 2\n}', ["a"])).toBe('{\n  "b": 2\n}')
  expect(removeFromJson('{ "a": 1 }', ["a"])).toBe("{}")
  expect(removeFromJson('{ "a": 1 }', ["b", "c"])).toBe('{ "a": 1 }')
})

test("what is below no object is not there to be removed, and comments beside the only member stay", () => {
  expect(removeFromJson('{"a": [1]}', ["a", "b"])).toBe('{"a": [1]}')
  expect(removeFromJson('{ /* mine */ "a": 1 }', ["a"])).toBe("{ /* mine */ }")
  expect(removeFromJson('{ "a": 1 /* mine */ }', ["a"])).toBe("{ /* mine */ }")
  expect(removeFromJson('{ "a": 1, /* mine */ }', ["a"])).toBe("{ /* mine */ }")
  expect(valueInJson(" ", PATH)).toBeUndefined()
})

test("a list stands on one line, and a value takes the place of one of another kind", () => {
  expect(setInJson('{\n  "a": 1\n}', ["a"], { b: ["x", "y"] })).toBe('{\n  "a": {\n    "b": ["x", "y"]\n  }\n}')
  expect(setInJson('{"a": {"b": 1}}', ["a"], 5)).toBe('{"a": 5}')
})

test("who is in the way is named, and a text that nests without end is refused like any other", () => {
  expect(() => setInJson('{"a": {"b": 7}}', ["a", "b", "c", "d"], 1)).toThrow("a.b is not an object")
  expect(() => setInJson('{"a":['.repeat(100_000), PATH, ENTRY)).toThrow(NotEditable)
})

const LISTS: readonly (readonly [name: string, before: string, after: string])[] = [
  ["a list that is not there", '{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "l": ["new"]\n}\n'],
  ["an empty one", '{"l": [ ]}', '{"l": ["new" ]}'],
  ["one line", '{"l": [1, 2]}', '{"l": [1, 2, "new"]}'],
  ["a line for each", '{"l": [\n\t1,\n\t2\n]}', '{"l": [\n\t1,\n\t2,\n\t"new"\n]}'],
  ["a comma at the end", '{"l": [\n  1, // one\n]}', '{"l": [\n  1,\n  "new" // one\n]}'],
]

test.each(LISTS)("an element is added to %s, and taken out again", (_, before, after) => {
  expect(addToJsonList(before, ["l"], "new")).toBe(after)
  const without = removeFromJsonList(after, ["l"], (value) => value === "new")
  expect(valueInJson(without, ["l"]) ?? []).toEqual(valueInJson(before, ["l"]) ?? [])
})

test("every element that is meant goes, the others stay as they are written", () => {
  const isOdd = (value: unknown) => Number(value) % 2 === 1
  expect(removeFromJsonList('{"l": [1, 2, /* b */ 3, 1e1, 5]}', ["l"], isOdd)).toBe('{"l": [2, 1e1]}')
  expect(removeFromJsonList('{"a": 1, "l": [1]}', ["l"], isOdd)).toBe('{"a": 1}')
  expect(removeFromJsonList('{"l": {}}', ["l"], isOdd)).toBe('{"l": {}}')
  expect(() => addToJsonList('{"l": {}}', ["l"], 1)).toThrow("l is not a list")
})
