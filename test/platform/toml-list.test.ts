/** One entry of a list of tables is changed, and nothing else. */
import { expect, test } from "bun:test"
import { NotEditable } from "../../src/platform/edit/editable.ts"
import { removeFromTomlList, setInTomlList, tablesOfList } from "../../src/platform/edit/toml-list.ts"

const PATH = ["mcp_servers", "pond"]
const ENTRY = { transport: "stdio", command: "/usr/bin/pond", args: ["mcp"] }
const ADDED = '[[mcp_servers]]\nname = "pond"\ntransport = "stdio"\ncommand = "/usr/bin/pond"\nargs = ["mcp"]\n'

test.each([
  "",
  'theme = "x" # mine\n',
  '[[mcp_servers]]\nname = "other"\n# why\ncommand = "o"\n\n[mcp_servers.auth]\ntype = "static"\n\n[tools]\nx = 1\n',
])("an entry is added behind %j, and taken out again", (text) => {
  const edited = setInTomlList(text, PATH, ENTRY, "name")
  expect(edited).toBe(text === "" ? ADDED : `${text}\n${ADDED}`)
  expect(setInTomlList(edited, PATH, ENTRY, "name")).toBe(edited)
  expect(tablesOfList(edited, ["mcp_servers"]).at(-1)).toEqual({ name: "pond", ...ENTRY })
  expect(removeFromTomlList(edited, PATH, "name")).toBe(text)
})

test("an entry between others is taken out, or written anew behind them with what others put into it", () => {
  const text = '[[mcp_servers]]\nname = "pond"\ncommand = "/old"\nenabled = false\n\n[[mcp_servers]]\nname = "z"\n'
  expect(removeFromTomlList(text, PATH, "name")).toBe('\n[[mcp_servers]]\nname = "z"\n')
  expect(tablesOfList(setInTomlList(text, PATH, ENTRY, "name"), ["mcp_servers"])).toEqual([
    { name: "z" },
    { name: "pond", command: "/usr/bin/pond", enabled: false, transport: "stdio", args: ["mcp"] },
  ])
})

test("an empty list in one line makes room, and a full one is left alone", () => {
  expect(setInTomlList("a = 1\nmcp_servers = []\nb = 2\n", PATH, ENTRY, "name")).toBe(`a = 1\nb = 2\n\n${ADDED}`)
  for (const text of ['mcp_servers = [{ name = "a" }]\n', "mcp_servers = 3\n", "x = [\n"])
    expect(() => setInTomlList(text, PATH, ENTRY, "name")).toThrow(NotEditable)
})
