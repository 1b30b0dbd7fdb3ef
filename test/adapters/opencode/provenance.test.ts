import { expect, test } from "bun:test"
import { join } from "node:path"
import { opencode } from "../../../src/adapters/opencode/adapter.ts"
import type { Part } from "../../../src/model/session.ts"
import { fixturesOf, logsOf } from "../../contract/fixtures.ts"
import { clientDatabase, NOW, readOnly, restoredRows, tempRoot, user } from "./support.ts"

/** Real shapes in, authored text out. The second is what was said, the third what kind the rest is. */
const TABLE: readonly (readonly [part: Record<string, unknown>, said: string, injected: string | undefined])[] = [
  [{ text: "a question" }, "a question", undefined],
  [{ text: '"quoted by run"' }, '"quoted by run"', undefined],
  [{ synthetic: false, text: "still said" }, "still said", undefined],
  [{ ignored: true, text: "for the person alone" }, "", "ignored"],
  [{ synthetic: true, text: 'Called the Read tool with the following input: {"filePath":"/a"}' }, "", "file-read"],
  [{ synthetic: true, text: "<path>/a</path>\n<type>file</type>" }, "", "file-read"],
  [{ synthetic: true, text: "<file>\n00001| x\n</file>" }, "", "file-read"],
  [{ synthetic: true, text: "Image read successfully" }, "", "file-read"],
  [{ synthetic: true, text: "Read tool failed to read /a with the following error: no" }, "", "file-read"],
  [{ synthetic: true, text: "Reading MCP resource: a (mcp://a)" }, "", "mcp-resource"],
  [{ synthetic: true, text: "<system-reminder>\nPlan mode is active.\n</system-reminder>" }, "", "system-reminder"],
  [
    {
      synthetic: true,
      text: " Use the above message and context to generate a prompt and call the task tool with subagent: x",
    },
    "",
    "agent-call",
  ],
  [{ synthetic: true, text: "The following tool was executed by the user" }, "", "user-shell"],
  [{ synthetic: true, text: "Summarize the task tool output above and continue with your task." }, "", "task-result"],
  [{ synthetic: true, text: '<task id="ses_x" state="completed">\nDone\n</task>' }, "", "task-result"],
  [{ synthetic: true, text: "Continue if you have next steps" }, "", "compaction-continue"],
  [{ synthetic: true, text: "Go on.", metadata: { compaction_continue: true } }, "", "compaction-continue"],
  [{ synthetic: true, text: "The open file is a.ts", metadata: { kind: "editor_context" } }, "", "ide"],
  [{ synthetic: true, text: "of a plugin" }, "", "synthetic"],
  [
    {
      synthetic: true,
      text: "The user made the following comment regarding line 7 of a: b.ts: why: this?",
      metadata: { opencodeComment: { path: "a: b.ts", comment: "why: this?" } },
    },
    "why: this?",
    "comment-frame",
  ],
  [
    { synthetic: true, text: "The user made the following comment regarding this file of a.ts: rename it" },
    "rename it",
    "comment-frame",
  ],
  [
    { synthetic: true, text: "The user made the following comment regarding lines 1 through 3 of a.ts: 変えて" },
    "変えて",
    "comment-frame",
  ],
]

for (const [fields, said, injected] of TABLE) {
  test(`${injected ?? "said"}: ${String(fields["text"]).slice(0, 60)}`, async () => {
    using temp = tempRoot()
    const client = clientDatabase(join(temp.root, "opencode.db"))
    client.session()
    client.message("msg_1", NOW - 60_000, user())
    client.part("prt_1", "msg_1", { type: "text", ...fields })
    const stored = await readOnly(temp.root)
    const parts: Part[] = stored.entries.flatMap((entry) => [...entry.parts])
    const told = (provenance: string) => parts.filter((part) => part.provenance === provenance)
    expect(
      told("conversational")
        .map((part) => (part.type === "text" ? part.text : part.type))
        .join(""),
    ).toBe(said)
    expect(told("injected").map(({ options }) => (options["pond"] as Record<string, unknown>)["injected"])).toEqual(
      injected === undefined ? [] : [injected],
    )
    // The pieces are one text again in its own place.
    expect(restoredRows(stored)["message msg_1"]).toMatchObject({ part: [{ data: { type: "text", ...fields } }] })
  })
}

test("the summary of a compaction stands in the assistant's slot and is not what the model said to the person", async () => {
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  client.session()
  client.message("msg_1", NOW - 60_000, { role: "assistant", summary: true, time: { created: 1, completed: 2 } })
  client.part("prt_1", "msg_1", { type: "text", text: "We did this and that." })
  const parts = (await readOnly(temp.root)).entries.flatMap((entry) => [...entry.parts])
  expect(parts).toMatchObject([{ provenance: "injected", options: { pond: { injected: "compact-summary" } } }])
})

test("a command that ended badly is a failure though its tool completed", async () => {
  using temp = tempRoot()
  const client = clientDatabase(join(temp.root, "opencode.db"))
  client.session()
  client.message("msg_1", NOW - 60_000, { role: "assistant", time: { created: 1, completed: 2 } })
  const states = [
    { status: "completed", input: {}, output: "fine", metadata: { exit: 0 } },
    { status: "completed", input: {}, output: "bad", metadata: { exit: 3 } },
    { status: "error", input: {}, error: "worse" },
    { status: "error", input: {}, error: "stopped", metadata: { interrupted: true, output: "so far" } },
  ]
  for (const [index, state] of states.entries())
    client.part(`prt_${index}`, "msg_1", { type: "tool", callID: `c${index}`, tool: "bash", state })
  const parts: Part[] = (await readOnly(temp.root)).entries.flatMap((entry) => [...entry.parts])
  const results = parts.filter((part) => part.type === "tool_result")
  expect(results.map(({ result, is_failure }) => [result, is_failure])).toEqual([
    ["fine", false],
    ["bad", true],
    ["worse", true],
    ["so far", false],
  ])
})

test("a picture that a tool read says so, and one of the user does not", async () => {
  const root = fixturesOf(opencode).find(({ name }) => name === "tree")?.root ?? ""
  const logs = [...(await logsOf(opencode, root)).values()]
  const files = logs.flatMap(({ entries }) =>
    entries.flatMap(({ parts }) => parts.filter(({ type }) => type === "file")),
  )
  const told = files.map(({ provenance, options }) => [provenance, options["pond"] ?? null] as const)
  expect(told.toSorted(([one], [other]) => (one < other ? -1 : 1))).toEqual([
    ["conversational", null],
    ["injected", { injected: "tool-media" }],
  ])
})
