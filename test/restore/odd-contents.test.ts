/**
 * Sessions of a shape that no client writes, as they may come over the wire: each comes whole into every client, or is refused
 * in words that say what to do, with nothing written.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { PondError } from "../../src/model/errors.ts"
import type { Entry, Part, Role, Session } from "../../src/model/session.ts"
import { planRestoreOf, restore } from "../../src/operations/machine/restore.ts"
import { foreignTargets } from "../contract/fixtures.ts"
import { memoryPond, type TestPond } from "../operations/support.ts"
import { MOMENT, session } from "../sessions/support.ts"

type Body = Part extends infer P
  ? P extends Part
    ? Omit<P, "id" | "session_id" | "message_id" | "options">
    : never
  : never
type Line = readonly [role: Role, bodies: readonly Body[], fields?: Readonly<Record<string, string>>]

const spoken = { provenance: "conversational" } as const
const text = (words: string): Body => ({ ...spoken, type: "text", text: words })
const thought = (words: string): Body => ({ ...spoken, type: "reasoning", text: words })
const file = (
  media_type: string,
  data: { base64: string } | { url: string } | { text: string },
  file_name?: string,
): Body => ({
  ...{ ...spoken, type: "file", media_type, data },
  ...(file_name === undefined ? {} : { file_name }),
})
const call = (call_id: string, params: unknown = { command: "ls" }, name = "Bash"): Body => ({
  ...{ ...spoken, type: "tool_call", call_id, name, params, provider_executed: false },
})
const answer = (call_id: string, result: unknown = "out"): Body => ({
  ...{ ...spoken, type: "tool_result", call_id, is_failure: false, result },
})
const ASK: Line = ["user", [text("hi")]]
const END: Line = ["assistant", [text("done")]]
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }
const pdf = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" } }

const WHOLE: Readonly<Record<string, readonly Line[]>> = {
  "a result that answers nothing": [ASK, ["tool", [answer("x")]], END],
  "a call that nothing answers": [ASK, ["assistant", [call("x")]], ["user", [text("and?")]], END],
  "calls of one id, one after the other": [
    ...([ASK, ["assistant", [call("x", { command: "a" })]], ["tool", [answer("x", "1")]]] as const),
    ...([["assistant", [call("x", { command: "b" })]], ["tool", [answer("x", "2")]], END] as const),
  ],
  "calls of one id in one message": [
    ASK,
    ["assistant", [call("x"), call("x")]],
    ["tool", [answer("x"), answer("x")]],
    END,
  ],
  "a result before its call": [ASK, ["tool", [answer("x")]], ["assistant", [call("x")]], END],
  "a call without an id": [ASK, ["assistant", [call("")]], ["tool", [answer("")]], END],
  "a call without a name": [ASK, ["assistant", [call("x", {}, "")]], ["tool", [answer("x")]], END],
  "a tool whose name no provider takes": [
    ASK,
    ["assistant", [call("x", {}, "a b/\u0000c")]],
    ["tool", [answer("x")]],
    END,
  ],
  "parameters that are no object": [
    ASK,
    ["assistant", [call("a", null), call("b", "words"), call("c", [1, 2]), call("d", 3)]],
    ["tool", [answer("a", null), answer("b", 3), answer("c", { x: 1 }), answer("d", [])]],
    END,
  ],
  "an empty text among the texts of a result": [
    ASK,
    ["assistant", [call("x")]],
    [
      "tool",
      [
        answer("x", [
          { type: "text", text: "a" },
          { type: "text", text: "" },
          { type: "text", text: "b" },
        ]),
      ],
    ],
    END,
  ],
  "a text behind a picture in a result": [
    ASK,
    ["assistant", [call("x")]],
    ["tool", [answer("x", [picture, { type: "text", text: "behind" }])]],
    END,
  ],
  "a text between pictures in a result": [
    ASK,
    ["assistant", [call("x")]],
    ["tool", [answer("x", [picture, { type: "text", text: "between" }, picture])]],
    END,
  ],
  "a document in a result": [
    ASK,
    ["assistant", [call("x")]],
    ["tool", [answer("x", [{ type: "text", text: "see" }, pdf])]],
    ["assistant", [call("y")]],
    ["tool", [answer("y", [pdf])]],
    END,
  ],
  "a tool whose name is longer than providers take": [
    ASK,
    ["assistant", [call("x", {}, `mcp__${"n".repeat(120)}`), call("y", {}, `mcp__${"n".repeat(200)}`)]],
    ["tool", [answer("x"), answer("y")]],
    END,
  ],
  "prompts that begin like a harness's own words": [
    ...[
      "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
      "<user_instructions>\nbe kind\n</user_instructions>",
      "<system-reminder>\nnothing\n</system-reminder>",
      "<system-reminder>\nnothing\n</system-reminder>\nand then my own words",
      "<command-name>/clear</command-name>",
      "<local-command-stdout>out</local-command-stdout>",
      "Caveat: The messages below were generated by the user while running local commands.",
      "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>",
      "# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:\nexplain",
      "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
      "[Image: source: /tmp/x.png]",
      "<task-notification>done</task-notification>",
      "This session is being continued from a previous conversation that ran out of context.",
      "[Request interrupted by user]",
    ].flatMap((words): Line[] => [
      ["user", [text(words)]],
      ["assistant", [text("heard")]],
    ]),
    ASK,
    END,
  ],
  "empty texts": [["user", [text("")]], ["assistant", [text(""), text("")]], ["user", [text("x"), text("")]], END],
  "texts of which nothing is seen": [
    ["user", [text("hi"), text(" \t")]],
    ["assistant", [text("\n\n")]],
    ["assistant", [thought("hm"), call("x")]],
    ["tool", [answer("x")]],
    ["assistant", [text("\n")]],
    ["user", [text("and?")]],
    END,
  ],
  "a null and halves of surrogate pairs": [
    ["user", [text("a\u0000b\ud800c\udc00")]],
    ["assistant", [call("x", { command: "\u0000\ud83d" })]],
    ["tool", [answer("x", "\ud800\u0000")]],
    ["assistant", [text("\ufeffdone\u2028")]],
  ],
  "a model that speaks first": [END, ASK],
  "users and models in a row": [ASK, ASK, END, END],
  "a thought alone": [ASK, ["assistant", [thought("hm")]]],
  "a thought without words": [ASK, ["assistant", [thought(""), text("x")]]],
  "files of every kind": [
    [
      "user",
      [
        file("image/png", { base64: PNG }, `${"ä".repeat(127)}/../../x.png`),
        file("text/plain", { text: "words" }, "n".repeat(255)),
        file("image/png", { url: "https://example.org/z.png" }),
        file("application/pdf", { base64: "AAAA" }),
        text("see"),
      ],
    ],
    END,
  ],
  "bytes that are no image": [["user", [file("image/png", { base64: "!!" }), text("see")]], END],
  "clocks at their ends": [
    ["user", [text("hi")], { timestamp: "9999-12-31T23:59:59.999Z" }],
    ["assistant", [text("ho")], { timestamp: "0001-01-01T00:00:00.000Z" }],
  ],
  "ids of messages that lead elsewhere": [
    ["user", [text("hi")], { id: "../../x" }],
    ["assistant", [text("ho")], { id: 'a\n"b' }],
    ["user", [text("hi")], { id: "x".repeat(3000) }],
  ],
}

const ODD_SESSIONS: Readonly<Record<string, Partial<Session>>> = {
  "a directory with quotes, a line break and accents": { project: `/tmp/it's "q"\n$(x) u\u0308/ü/../` },
  "a directory that is none": { project: "not a path" },
  "a directory of Windows": { project: "C:\\Users\\x\\p" },
  "a title of several lines": { title: "a\nb\r\n\u0000c\u001b[31m" },
  "an empty title": { title: "" },
  ...Object.fromEntries(
    ["../../etc/passwd", "a/b", "x".repeat(300), "with space\n", ".", "ünï", "-rf", "%2e%2e", "a\u0000b"].map((id) => [
      `the id ${JSON.stringify(id).slice(0, 20)}`,
      { id },
    ]),
  ),
}

/** Stored with one commit, before the first test. */
const batches: { readonly session: Session; readonly entries: readonly Entry[] }[] = []
let place: TestPond
beforeAll(async () => {
  place = memoryPond()
  const results = await place.place.sessions.write(batches)
  expect(results.map(({ status }) => status)).toEqual(batches.map(() => "stored"))
})
afterAll(() => place[Symbol.dispose]())

let count = 0
function stored(lines: readonly Line[], fields: Partial<Session> = {}): string {
  const id = fields.id ?? `odd-${++count}`
  const entries = lines.map(([role, bodies, own], ordinal) => {
    const message_id = own?.["id"] ?? `m${ordinal}`
    const common = { session_id: id, options: {} }
    return {
      message: {
        ...common,
        ordinal,
        timestamp: MOMENT,
        role,
        ...(role === "system" ? { content: "" } : {}),
        ...own,
        id: message_id,
      },
      parts: bodies.map((body, index) => ({ ...common, id: `${message_id}:${index}`, message_id, ...body })),
    }
  }) as unknown as Entry[]
  batches.push({ session: session(id, fields), entries })
  return id
}

/** What was said of it, or the error. Whatever was not restored left nothing behind. */
async function restoredInto(to: string, sessionId: string): Promise<string> {
  const root = mkdtempSync(join(place.place.path, "root-"))
  const options = { sessionId, to, root, reasoning: "keep" as const, isForced: false }
  try {
    const { written, files } = await restore(place.pond, await planRestoreOf(place.pond, options), options)
    return written && files.length > 0 ? "whole" : "nothing was written"
  } catch (error) {
    const left = readdirSync(root).length === 0 ? "" : ", and left something behind"
    return error instanceof PondError ? `${error.code}: ${error.message}${left}` : `untyped: ${String(error)}${left}`
  } finally {
    rmSync(root, { recursive: true })
  }
}

const TARGETS = foreignTargets()

async function everywhere(sessionId: string): Promise<Readonly<Record<string, string>>> {
  const said = await Promise.all(TARGETS.map(async ({ id }) => [id, await restoredInto(id, sessionId)]))
  return Object.fromEntries(said)
}

const EVERY_ONE_WHOLE = Object.fromEntries(TARGETS.map(({ id }) => [id, "whole"]))

describe("comes whole into every client", () => {
  test.each(Object.entries(WHOLE).map(([name, lines]) => [name, stored(lines)]))("%s", async (_, id) => {
    expect(await everywhere(id)).toEqual(EVERY_ONE_WHOLE)
  })

  test.each(Object.entries(ODD_SESSIONS).map(([name, fields]) => [name, stored([ASK, END], fields)]))(
    "%s",
    async (_, id) => {
      expect(await everywhere(id)).toEqual(EVERY_ONE_WHOLE)
    },
  )

  const clients = ADAPTERS.filter(({ serialize }) => serialize.foreign !== undefined)
  test.each(clients.map(({ id }) => [id, stored([ASK, END], { source_agent: id })]))(
    "a session of %s, without a record of its own",
    async (_, id) => {
      expect(await everywhere(id)).toEqual(EVERY_ONE_WHOLE)
    },
  )
})

describe("is refused, in words, with nothing written", () => {
  test.each([
    ["a session without messages", stored([])],
    ["one of carriers alone", stored([["system", []]])],
    [
      "one of blank texts",
      stored([
        ["user", [text(" \n ")]],
        ["assistant", [text("\n")]],
      ]),
    ],
  ])("%s", async (_, id) => {
    for (const [adapter, said] of Object.entries(await everywhere(id))) {
      const title = ADAPTERS.find((each) => each.id === adapter)?.title
      expect(said).toBe(
        `validation_failed: Session ${id} has no messages, so ${title} has nothing to resume. \`pond get ${id} --mode verbatim\` shows what it contains.`,
      )
    }
  })

  const far = stored([ASK, END], { project: `/${"d".repeat(250)}/${"e".repeat(250)}` })

  test("a directory whose name no disk takes", async () => {
    expect(await restoredInto("pi", far)).toMatch(
      /^storage_unavailable: Cannot write to .* \(ENAMETOOLONG\)\. A file name is too long for this disk: choose another directory with --cwd\.$/,
    )
  })
})
