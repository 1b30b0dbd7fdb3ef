/** Foreign TOML is changed at one place, and nowhere else. */
import { expect, test } from "bun:test"
import { NotEditable } from "../../src/platform/edit/editable.ts"
import { removeFromToml, setInToml, valueInToml } from "../../src/platform/edit/toml-edit.ts"

const PATH = ["mcp_servers", "pond"]
const ENTRY = { command: "/usr/bin/pond", args: ["mcp"] }
const ADDED = '[mcp_servers.pond]\ncommand = "/usr/bin/pond"\nargs = ["mcp"]\n'

/** What a table is added to: comes back to the byte when it is taken out again. */
const TEXTS = [
  "",
  "# settings\n",
  'model = "x" # mine\n\n[projects."/home/a b"]\ntrust_level = "trusted"\n',
  "[mcp_servers.other]\ncommand = 'a'\nenv = { A = \"1\" }\n",
  'mcp_servers.other.command = "a"\n',
  'notes = """\n[mcp_servers.pond]\n"""\nlist = [ # [x]\n  "a", # ]\n  "b",\n]\n',
  "a = '''x''''\n\n[[profiles]]\nname = \"é\"\n\n[[profiles]]\nname = \"z\"\n",
]

test.each(TEXTS)("a table is added behind %j, and taken out again", (text) => {
  const edited = setInToml(text, PATH, ENTRY)
  expect(edited).toBe(text === "" ? ADDED : `${text}\n${ADDED}`)
  expect(setInToml(edited, PATH, ENTRY)).toBe(edited)
  expect(valueInToml(edited, PATH)).toEqual(ENTRY)
  expect(removeFromToml(edited, PATH)).toBe(text)
})

const KEYS: readonly (readonly [
  name: string,
  before: string,
  path: readonly string[],
  value: string | string[],
  after: string,
])[] = [
  ["a value in its place", 'store = "a" # here\n', ["store"], "b", 'store = "b" # here\n'],
  [
    "a list over several lines",
    "[adapters]\ndisabled = [\n  # none\n]\nx = 1\n",
    ["adapters", "disabled"],
    ["pi"],
    '[adapters]\ndisabled = ["pi"]\nx = 1\n',
  ],
  [
    "a key of the root before the tables",
    "# c\n\n# about\n[adapters]\n",
    ["store"],
    "b",
    '# c\n\nstore = "b"\n\n# about\n[adapters]\n',
  ],
  [
    "a key behind others of its table",
    "[a]\nx = 1\n\n[b]\ny = 2\n",
    ["a", "z"],
    "é\u007f",
    '[a]\nx = 1\nz = "é\\u007f"\n\n[b]\ny = 2\n',
  ],
  ["a table that is not there", "x = 1", ["a b", "z"], "v", 'x = 1\n\n["a b"]\nz = "v"\n'],
  ["a key behind a comment that ends the text", "# c", ["y"], "v", '# c\ny = "v"\n'],
  ["a key that is indented", " x = 1\n [ t . u ]\n  x = 2\n", ["t", "u", "x"], "v", ' x = 1\n [ t . u ]\n  x = "v"\n'],
  [
    "a key behind texts that hold what ends a text",
    'a = "x \\" # [y]"\nb = "\\\\"\nc = \'C:\\\'\nd = 1\n',
    ["d"],
    "v",
    'a = "x \\" # [y]"\nb = "\\\\"\nc = \'C:\\\'\nd = "v"\n',
  ],
  ["a key behind a mark of the byte order", "\ufeffx = 1\n", ["x"], "v", '\ufeffx = "v"\n'],
  ["CRLF", "x = 1\r\n", ["y"], "v", 'x = 1\r\ny = "v"\r\n'],
]

test.each(KEYS.map(([name, before, path, value, after]) => ({ name, before, path, value, after })))(
  "sets $name",
  ({ before, path, value, after }) => {
    expect(setInToml(before, path, value)).toBe(after)
  },
)

test("an older entry is set right where it stands, and its other keys stay", () => {
  const before =
    '[mcp_servers]\n[mcp_servers.pond]\ncommand = "old"\nenv = { A = "1" }\n# mine\n\n[mcp_servers.pond.tools]\nx = true\n\n[z]\n'
  const after =
    '[mcp_servers]\n[mcp_servers.pond]\ncommand = "/usr/bin/pond"\nenv = { A = "1" }\nargs = ["mcp"]\n# mine\n\n[mcp_servers.pond.tools]\nx = true\n\n[z]\n'
  expect(setInToml(before, PATH, ENTRY)).toBe(after)
  expect(removeFromToml(after, PATH)).toBe("[mcp_servers]\n# mine\n\n\n[z]\n")
})

test("what cannot be changed without changing more is refused", () => {
  const refused = ['mcp_servers = { other = { command = "a" } }\n', "mcp_servers = 7\n", "a = \n", 'a = "x\n']
  for (const text of refused) expect(() => setInToml(text, PATH, ENTRY), text).toThrow(NotEditable)
  expect(removeFromToml("a = 1\n", PATH)).toBe("a = 1\n")
})

test("a list has its items, and a table inside an entry stands on one line unless it has lines of its own", () => {
  const env = { A: "1", "b c": "2" }
  expect(setInToml("", PATH, { args: ["a", "b"], env, none: {} })).toBe(
    '[mcp_servers.pond]\nargs = ["a", "b"]\nenv = { A = "1", "b c" = "2" }\nnone = {}\n',
  )
  expect(setInToml('[mcp_servers.pond]\n[mcp_servers.pond.env]\nB = "3"\n', PATH, { env })).toBe(
    '[mcp_servers.pond]\n[mcp_servers.pond.env]\nB = "3"\nA = "1"\n"b c" = "2"\n',
  )
  expect(() => setInToml("", ["store"], null)).toThrow("TOML has no null")
})
