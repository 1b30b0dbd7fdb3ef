/** What calls of real clients did to files: the shapes are those that the clients write. */
import { expect, test } from "bun:test"
import type { FileRecord } from "../../../src/adapters/adapter.ts"
import { adapterById } from "../../../src/adapters/registry.ts"
import type { JsonValue } from "../../../src/model/json.ts"
import { changesOf } from "../../../src/operations/files/file-change.ts"
import { isSameFile, normalizePath, pathInProject } from "../../../src/operations/files/file-path.ts"

interface Call {
  readonly client: string
  readonly name: string
  readonly params: JsonValue
  readonly record?: FileRecord
}

function changes({ client, name, params, record }: Call) {
  return changesOf({ name, params, vocabulary: adapterById(client)?.vocabulary ?? [], record })
}

test("a write says whether there was a file, where the client does", () => {
  const params = { file_path: "/w/a.ts", content: "one\n" }
  const write = { client: "claude-code", name: "Write", params }
  expect(changes(write)).toEqual([{ kind: "write", path: "/w/a.ts", content: "one\n", before: undefined }])
  expect(changes({ ...write, record: { before: null } })[0]).toMatchObject({ before: null })
  expect(changes({ ...write, record: { before: "zero\n" } })[0]).toMatchObject({ before: "zero\n" })
})

test.each([
  ["claude-code", "File created successfully at: /w/a.ts"],
  ["copilot-cli", "Created file /w/a.ts with 12 characters"],
  ["gemini-cli", "Successfully created and wrote to new file: /w/a.ts."],
  ["qwen-code", "Successfully created and wrote to new file: /w/a.ts."],
])("%s tells its model of a file that it made, also where no record says so", (client, told) => {
  expect(adapterById(client)?.files?.({}, "call", told)).toEqual({ before: null })
  expect(adapterById(client)?.files?.({}, "call", "The file was updated")).toBeUndefined()
})

test("edits of one and of several texts", () => {
  const edited = changes({
    client: "claude-code",
    name: "Edit",
    params: { file_path: "a.ts", old_string: "x", new_string: "y", replace_all: true },
  })
  expect(edited).toMatchObject([{ kind: "edit", edits: [{ old: "x", new: "y", isEvery: true, isLines: false }] }])
  const several = changes({
    client: "pi",
    name: "edit",
    params: { path: "a.ts", edits: [{ oldText: "x", newText: "y" }] },
  })
  expect(several).toMatchObject([{ kind: "edit", edits: [{ old: "x", new: "y", isEvery: false }] }])
})

const PATCH = [
  "*** Begin Patch",
  "*** Add File: new.ts",
  "+one",
  "*** Update File: old.ts",
  "@@ function a",
  " kept",
  "-gone",
  "+come",
  "*** Delete File: dead.ts",
  "*** Update File: from.ts",
  "*** Move to: to.ts",
  "@@",
  "-was",
  "+is",
  "*** End Patch",
].join("\n")

test("a patch does several things to several files", () => {
  expect(changes({ client: "codex", name: "apply_patch", params: PATCH })).toEqual([
    { kind: "write", path: "new.ts", content: "one\n", before: undefined },
    {
      kind: "edit",
      path: "old.ts",
      before: undefined,
      edits: [{ old: "kept\ngone", new: "kept\ncome", isEvery: false, isLines: true }],
    },
    { kind: "delete", path: "dead.ts" },
    { kind: "delete", path: "from.ts" },
    {
      kind: "edit",
      path: "to.ts",
      before: undefined,
      edits: [{ old: "was", new: "is", isEvery: false, isLines: true }],
    },
  ])
})

test("of a command line, a patch and a literal here document are certain, and nothing else", () => {
  const shell = (command: string, more: object = {}) =>
    changes({ client: "codex", name: "exec_command", params: { cmd: command, ...more } })
  expect(shell(`apply_patch <<'EOF'\n${PATCH}\nEOF`, { workdir: "/w/sub" }).map(({ path }) => path)).toEqual(
    ["new.ts", "old.ts", "dead.ts", "from.ts", "to.ts"].map((name) => `/w/sub/${name}`),
  )
  expect(shell("cd lib && cat > a.ts <<'EOF'\nx = $HOME\nEOF")).toEqual([
    { kind: "write", path: "lib/a.ts", content: "x = $HOME\n", before: undefined },
  ])
  expect(shell("cat > a.ts <<EOF\nx = $HOME\nEOF")).toEqual([])
  expect(shell("cat a.ts; sed -i s/x/y/ a.ts; echo x > a.ts")).toEqual([])
  expect(shell("cd a; cd b; cat > a.ts <<'EOF'\nx\nEOF")).toEqual([])
})

test("nothing is made of what is not of a known form", () => {
  expect(changes({ client: "claude-code", name: "mcp__files__write", params: { path: "a" } })).toEqual([])
  expect(changes({ client: "claude-code", name: "Write", params: { file_path: 7, content: "x" } })).toEqual([])
  expect(changes({ client: "claude-code", name: "Write", params: null })).toEqual([])
  expect(
    changes({
      client: "codex",
      name: "apply_patch",
      params: "*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch",
    }),
  ).toEqual([])
})

test("a file is the same where its project lies elsewhere, and no other of that name", () => {
  expect(normalizePath("/a/./b//../c")).toBe("/a/c")
  expect(pathInProject("src/a.ts", "/home/x/shop")).toBe("/home/x/shop/src/a.ts")
  const named = "/home/x/shop/src/a.ts"
  expect(isSameFile("/home/x/shop/src/a.ts", named, "/home/x/shop")).toBe(true)
  expect(isSameFile("/Users/y/clones/shop/src/a.ts", named, "/home/x/shop")).toBe(true)
  expect(isSameFile("/home/x/other/src/a.ts", named, "/home/x/shop")).toBe(false)
  expect(isSameFile("/home/x/shop/test/src/a.ts", named, "/home/x/shop")).toBe(false)
  expect(isSameFile("/home/x/workshop/src/a.ts", named, "/home/x/shop")).toBe(false)
})
