import { expect, test } from "bun:test"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import { codex } from "../../../src/adapters/codex/adapter.ts"
import { pi } from "../../../src/adapters/pi/adapter.ts"
import { originOf } from "../../../src/adapters/registry.ts"
import { resultContent, resultText, translateCall } from "../../../src/adapters/shared/translate.ts"

type Call = { name: string; params: unknown }

function check(from: string, call: Call, to: string, want: Call & { lost?: string[] }) {
  const got = translateCall(originOf(from)?.vocabulary, originOf(to)?.vocabulary, call as never)
  expect({ name: got?.name, params: got?.params as unknown, lost: got?.lost }).toEqual({ lost: [], ...want })
}

test("a shell call of Codex is a Bash call of Claude Code, and back", () => {
  const bash = { name: "Bash", params: { command: "ls -la" } }
  check("codex", { name: "shell", params: { command: ["bash", "-lc", "ls -la"] } }, "claude-code", bash)
  check("codex", { name: "exec_command", params: { cmd: "ls -la" } }, "claude-code", bash)
  check("claude-code", bash, "codex", { name: "exec_command", params: { cmd: "ls -la" } })
})

test("a list of arguments that is no script is quoted into one command", () => {
  const params = { command: ["git", "commit", "-m", "it's done"] }
  check("codex", { name: "shell", params }, "claude-code", {
    name: "Bash",
    params: { command: "git commit -m 'it'\\''s done'" },
  })
})

test("what the target cannot say is named as lost", () => {
  const params = { command: ["bash", "-lc", "ls"], workdir: "/w", with_escalated_permissions: true }
  check("codex", { name: "shell", params }, "claude-code", {
    name: "Bash",
    params: { command: "ls" },
    lost: ["with_escalated_permissions", "directory"],
  })
})

test("one edit goes to the tool for one edit, several to the tool for several", () => {
  const one = { path: "a.ts", edits: [{ oldText: "x", newText: "y" }] }
  check("pi", { name: "edit", params: one }, "claude-code", {
    name: "Edit",
    params: { file_path: "a.ts", old_string: "x", new_string: "y" },
  })
  const two = { path: "a.ts", edits: [...one.edits, { oldText: "p", newText: "q" }] }
  check("pi", { name: "edit", params: two }, "opencode", {
    name: "multiedit",
    params: {
      filePath: "a.ts",
      edits: [
        { oldString: "x", newString: "y" },
        { oldString: "p", newString: "q" },
      ],
    },
  })
})

test("a patch that does one thing is a write or an edit where the target has no patches", () => {
  const patch = (...lines: string[]) => ({
    name: "apply_patch",
    params: ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n"),
  })
  check("codex", patch("*** Add File: a.ts", "+one", "+", "+two"), "claude-code", {
    name: "Write",
    params: { file_path: "a.ts", content: "one\n\ntwo\n" },
  })
  const hunk = ["@@ function main", " before", "-old", "+new", "", "*** End of File"]
  check("codex", patch("*** Update File: a.ts", ...hunk), "pi", {
    name: "edit",
    params: { path: "a.ts", edits: [{ oldText: "before\nold\n", newText: "before\nnew\n" }] },
  })
  check("codex", patch("*** Update File: a.ts", "-x", "+y", "@@", "-p", "+q"), "claude-code", {
    name: "MultiEdit",
    params: {
      file_path: "a.ts",
      edits: [
        { old_string: "x", new_string: "y" },
        { old_string: "p", new_string: "q" },
      ],
    },
  })
  const stays = [
    patch("*** Delete File: a.ts"),
    patch("*** Add File: a.ts", "+one", "*** Add File: b.ts", "+two"),
    patch("*** Update File: a.ts", "*** Move to: b.ts", "@@", "-x", "+y"),
    patch("*** Update File: a.ts", "@@", "+only new"),
    { name: "apply_patch", params: "not a patch" },
  ]
  for (const call of stays) expect(translateCall(codex.vocabulary, claudeCode.vocabulary, call)).toBeUndefined()
  const whole = patch("*** Delete File: a.ts")
  check("codex", whole, "opencode", { name: "apply_patch", params: { patchText: whole.params } })
})

test("a timeout keeps its length where clients count in other units", () => {
  const params = { command: "make", timeout: 90_000 }
  check("claude-code", { name: "Bash", params }, "pi", { name: "bash", params: { command: "make", timeout: 90 } })
})

test("a retired name is read and not written", () => {
  const params = { description: "count", prompt: "Count.", subagent_type: "Explore" }
  check("claude-code/Explore", { name: "Task", params }, "opencode", { name: "task", params })
  check("opencode", { name: "task", params }, "claude-code", { name: "Agent", params })
})

test("a tool without an equal, and parameters that do not fit, are left to the codec", () => {
  expect(translateCall(claudeCode.vocabulary, pi.vocabulary, { name: "mcp__x__y", params: {} })).toBeUndefined()
  expect(translateCall(claudeCode.vocabulary, pi.vocabulary, { name: "Bash", params: { command: 7 } })).toBeUndefined()
  expect(translateCall(claudeCode.vocabulary, pi.vocabulary, { name: "Bash", params: "ls" })).toBeUndefined()
  expect(translateCall(undefined, pi.vocabulary, { name: "Bash", params: { command: "ls" } })).toBeUndefined()
})

test("a result is the content that the model was shown, in every client's shape", () => {
  const image = { type: "image", mediaType: "image/png", base64: "AAAA" }
  expect(resultContent("plain")).toEqual([{ type: "text", text: "plain" }])
  expect(resultContent({ output: "from an object" })).toEqual([{ type: "text", text: "from an object" }])
  expect(
    resultContent([
      { type: "text", text: "a" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "input_image", image_url: "data:image/png;base64,AAAA" },
    ]),
  ).toEqual([{ type: "text", text: "a" }, image, image, image] as never)
  expect(
    resultText([
      { type: "text", text: "a" },
      { type: "input_text", text: "b" },
    ]),
  ).toBe("a\nb")
  expect(resultText({ ok: true })).toBe('{"ok":true}')
})

test("what Cline does with one file or one command others do too, and with several they do not", () => {
  const read = (files: readonly object[]) => ({ name: "read_files", params: { files } })
  const [one, other] = [{ path: "a.ts", start_line: 3, end_line: 7 }, { path: "b.ts" }]
  check("cline", read([one]), "claude-code", { name: "Read", params: { file_path: "a.ts", offset: 3, limit: 5 } })
  expect(
    translateCall(originOf("cline")?.vocabulary, claudeCode.vocabulary, read([one, other]) as never),
  ).toBeUndefined()
  const run = (commands: readonly string[]) => ({ name: "run_commands", params: { commands } })
  check("cline", run(["ls"]), "claude-code", { name: "Bash", params: { command: "ls" } })
  expect(
    translateCall(originOf("cline")?.vocabulary, claudeCode.vocabulary, run(["ls", "pwd"]) as never),
  ).toBeUndefined()
})

test("a range of lines of Copilot is where Claude Code begins and how far it reads, and back", () => {
  const view = { name: "view", params: { path: "/a.ts", view_range: [2, 5] } }
  const read = { name: "Read", params: { file_path: "/a.ts", offset: 2, limit: 4 } }
  check("copilot-cli", view, "claude-code", read)
  check("claude-code", read, "copilot-cli", view)
  const rest = { name: "Read", params: { file_path: "/a.ts", offset: 2 } }
  check("claude-code", rest, "copilot-cli", { name: "view", params: { path: "/a.ts", view_range: [2, -1] } })
})
