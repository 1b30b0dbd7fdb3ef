import { expect, test } from "bun:test"
import { codex } from "../../../src/adapters/codex/adapter.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import { item, said, stored, threadWith, userItem } from "./support.ts"

/** What stands in the user's slot, and what of it a person wrote. */
async function check(text: string, want: readonly string[]): Promise<void> {
  const thread = await threadWith(userItem(text))
  expect(said(thread.entries)).toEqual(want.map((part) => `user: ${part}`))
  const [file] = nativeFiles(codex, stored(thread))
  expect(file?.form === "log" && JSON.parse(String([...file.lines][1])).payload.content[0].text).toBe(text)
}

test.each([
  "explain this",
  "# A heading of my own:\nand no request under it",
  "the tag <environment_context> in the middle of a line",
  "<environment_context> that never ends",
  "## My request for Codex:\nquoted without an editor before it",
  "warning: all caps are shouting",
])("a person's own words stay theirs: %s", (text) => check(text, [text]))

test.each([
  ["agents-md", "# AGENTS.md instructions for /projects/alpha\n\n<INSTRUCTIONS>\nRun the tests.\n</INSTRUCTIONS>"],
  ["agents-md", "<user_instructions>\n\nBe brief.\n\n</user_instructions>"],
  ["environment-context", "<environment_context>\n  <cwd>/projects/alpha</cwd>\n</environment_context>"],
  ["environment-context", "  <ENVIRONMENT_CONTEXT>Current working directory: /a</environment_context>\n"],
  ["turn-aborted", "<turn_aborted>\n  <reason>interrupted</reason>\n</turn_aborted>"],
  ["subagent-notification", '<subagent_notification>\n{"status":"done"}\n</subagent_notification>'],
  ["skill", "<skill>\n<name>imagegen</name>\n</skill>"],
  ["hook-prompt", '<hook_prompt hook_run_id="1">try again</hook_prompt>'],
  ["internal-context", '<codex_internal_context source="goal">\nkeep on\n</codex_internal_context>'],
  ["additional-context", "<external_browser>a page</external_browser>"],
  ["recommended-plugins", "<recommended_plugins>\n- Figma\n</recommended_plugins>"],
  ["compact-summary", "Another language model started to solve this problem and produced a summary: all is well"],
  ["warning", "Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead of exec_command."],
])("a fragment of the client's own is %s", (kind, text) => check(text, [`[${kind}] ${text}`]))

test("what an editor puts before a request is cut off at the request", async () => {
  const context = "# Context from my IDE setup:\n\n## Active file: src/main.ts\n\n## My request for Codex:\n"
  await check(`${context}why does it fail?\n`, [`[editor-context] ${context}`, "why does it fail?\n"])
  const files = "\n# Files mentioned by the user:\n\n## a.png: /a.png\n\n## My request for Codex:\n\n"
  await check(`${files}add it`, [`[editor-context] ${files}`, "add it"])
  await check("# Context from my IDE setup:\n\n## My request for Codex:\n", [
    "[editor-context] # Context from my IDE setup:\n\n## My request for Codex:\n",
  ])
})

test("of a shell command the person typed the command", async () => {
  const before = "<user_shell_command>\n<command>\n"
  const after = "\n</command>\n<result>\nExit code: 0\nOutput:\nclean\n</result>\n</user_shell_command>"
  await check(`${before}git status${after}`, [`[shell-command] ${before}`, "git status", `[shell-command] ${after}`])
})

test("what the client says of its content counts more than what it looks like", async () => {
  const content = [
    "<turn_aborted>quoted</turn_aborted>",
    "remember the milk",
    "<environment_context></environment_context>",
  ]
  const thread = await threadWith(
    item({
      type: "message",
      role: "user",
      content: content.map((text) => ({ type: "input_text", text })),
      internal_chat_message_metadata_passthrough: {
        content_item_kinds: ["user.text", "hooks.additional_context", "environments.environment_context"],
      },
    }),
  )
  expect(said(thread.entries)).toEqual([
    "user: <turn_aborted>quoted</turn_aborted>",
    "user: [hook-prompt] remember the milk",
    "user: [environment-context] <environment_context></environment_context>",
  ])
})

test("labels around an image are the client's, and name its file", async () => {
  const label = '<image name=[Image #1] path="/projects/alpha/a pic.png">'
  const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" }
  const text = (value: string) => ({ type: "input_text", text: value })
  const content = [text(label), image, text("</image>"), text("what is it?"), text("</image>")]
  const thread = await threadWith(item({ type: "message", role: "user", content }))
  expect(said(thread.entries)).toEqual([
    `user: [image-label] ${label}`,
    "user: <image/png a pic.png>",
    "user: [image-label] </image>",
    "user: what is it?",
    // Without an image beside it the same text is something that a person wrote.
    "user: </image>",
  ])
})

test("what another agent sends is injected, but for the task that comes from above", async () => {
  const sent = (author: string, recipient: string) => {
    const text = `Message Type: MESSAGE\nTask name: ${recipient}\nSender: ${author}\nPayload:\ncount the files`
    return item({ type: "agent_message", author, recipient, content: [{ type: "input_text", text }] })
  }
  const thread = await threadWith(sent("/root", "/root/counter"), sent("/root/counter", "/root"))
  const head = (author: string, to: string) => `Message Type: MESSAGE\nTask name: ${to}\nSender: ${author}\nPayload:\n`
  expect(said(thread.entries)).toEqual([
    `user: [agent-message] ${head("/root", "/root/counter")}`,
    "user: count the files",
    `user: [agent-message] ${head("/root/counter", "/root")}count the files`,
  ])
})

test("what the client says as its developer is a message of the system, one for each text", async () => {
  const content = [
    "<permissions instructions>\nall\n</permissions instructions>",
    "<skills_instructions></skills_instructions>",
  ]
  const thread = await threadWith(
    item({ type: "message", role: "developer", content: content.map((text) => ({ type: "input_text", text })) }),
  )
  const spoken = thread.entries.flatMap(({ message }) => (message.role === "system" && message.content) || [])
  expect(spoken).toEqual(content)
  expect(codex.context(thread, [])).toEqual([])
})
