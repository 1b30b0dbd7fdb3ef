/** Foreign YAML is changed at one place, and nowhere else. */
import { expect, test } from "bun:test"
import { NotEditable } from "../../src/platform/edit/editable.ts"
import { removeFromYaml, setInYaml, valueInYaml } from "../../src/platform/edit/yaml-edit.ts"

const PATH = ["extensions", "pond"]
const ENTRY = { cmd: "/usr/bin/pond", args: ["mcp"], envs: {} }
const ADDED = 'extensions:\n  pond:\n    cmd: "/usr/bin/pond"\n    args: ["mcp"]\n    envs: {}\n'

/** Each comes back to the byte when the entry is taken out again. */
const WITHOUT = [
  "",
  "# settings\n",
  "model: x # mine\nlist:\n- a\n- b\n",
  "---\na: 1\n",
  "text: |\n  # not a comment\n  extensions:\n    pond: 1\n",
]

test.each(WITHOUT)("a map is added behind %j, and taken out again", (text) => {
  const edited = setInYaml(text, PATH, ENTRY)
  expect(edited).toBe(`${text}${ADDED}`)
  expect(setInYaml(edited, PATH, ENTRY)).toBe(edited)
  expect(valueInYaml(edited, PATH)).toEqual(ENTRY)
  expect(removeFromYaml(edited, PATH)).toBe(text)
})

test("an entry is added to those that are there, as they are indented, and comments stay where they are", () => {
  const text = [
    ...["GOOSE_PROVIDER: openai # the one", "extensions:", "    # what it begins with", "    developer:"],
    ...[
      "        enabled: true",
      "        note: |",
      "            # part of the text",
      "",
      "# the end",
      "mode: auto",
      "",
    ],
  ].join("\n")
  const edited = setInYaml(text, PATH, ENTRY)
  expect(edited).toBe(
    text.replace(
      "            # part of the text\n",
      '            # part of the text\n    pond:\n      cmd: "/usr/bin/pond"\n      args: ["mcp"]\n      envs: {}\n',
    ),
  )
  expect(removeFromYaml(edited, PATH)).toBe(text)
})

test("what changed is written in its place, and keys of other programs stay", () => {
  const text =
    "extensions:\n  pond:\n    cmd: /old\n    args:\n      - mcp\n      - x\n    enabled: false # by me\n  other: 1\n"
  expect(setInYaml(text, PATH, ENTRY)).toBe(
    'extensions:\n  pond:\n    cmd: "/usr/bin/pond"\n    args: ["mcp"]\n    enabled: false # by me\n    envs: {}\n  other: 1\n',
  )
})

test.each(["{}", "[]", "null", "~"])("an empty value %s in the line of its key makes room", (empty) => {
  const edited = setInYaml(`a: 1\nextensions: ${empty} # none\nb: 2\n`, PATH, { cmd: "x" })
  expect(edited).toBe('a: 1\nextensions: # none\n  pond:\n    cmd: "x"\nb: 2\n')
})

const LIST = ["mcpServers", "pond"]
const SERVER = { command: "/usr/bin/pond", args: ["mcp"] }

test.each([
  ["name: mine\n", 'name: mine\nmcpServers:\n  - name: "pond"\n    command: "/usr/bin/pond"\n    args: ["mcp"]\n'],
  [
    "mcpServers:\n- name: other\n  command: o # his\n\nmodels: []\n",
    'mcpServers:\n- name: other\n  command: o # his\n- name: "pond"\n  command: "/usr/bin/pond"\n  args: ["mcp"]\n\nmodels: []\n',
  ],
])("an entry of a list is added to %j, and taken out again", (text, after) => {
  const edited = setInYaml(text, LIST, SERVER, "name")
  expect(edited).toBe(after)
  expect(valueInYaml(edited, LIST, "name")).toEqual({ name: "pond", ...SERVER })
  expect(setInYaml(edited, LIST, SERVER, "name")).toBe(edited)
  expect(removeFromYaml(edited, LIST, "name")).toBe(text)
})

test("an entry of a list that changed is written in its place", () => {
  const text = "mcpServers:\n  - command: /old\n    name: pond\n    env: {A: 1}\n  - name: z\n"
  expect(setInYaml(text, LIST, SERVER, "name")).toBe(
    'mcpServers:\n  - command: "/usr/bin/pond"\n    name: pond\n    env: {A: 1}\n    args: ["mcp"]\n  - name: z\n',
  )
})

test.each([
  ["a map in one line", "extensions: {a: 1}\n"],
  ["a text in its place", "extensions: text\n"],
  ["no map", "- a\n- b\n"],
  ["broken", "a: [\n"],
  ["two documents", "a: 1\n---\nb: 2\n"],
])("%s is left alone", (_, text) => {
  expect(() => setInYaml(text, PATH, ENTRY)).toThrow(NotEditable)
})

test("line ends of Windows stay", () => {
  const text = "a: 1\r\nextensions:\r\n  b: 2\r\n"
  const edited = setInYaml(text, PATH, { cmd: "x" })
  expect(edited).toBe(`${text}  pond:\r\n    cmd: "x"\r\n`)
  expect(removeFromYaml(edited, PATH)).toBe(text)
})
