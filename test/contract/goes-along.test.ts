/**
 * What a session is called, and what is attached to its messages, goes along into another client. An attachment that does
 * not is named among the losses: by its name, where it has one.
 */
import { describe, expect, test } from "bun:test"
import type { OutputFile } from "../../src/adapters/adapter.ts"
import type { Entry, Part, Role } from "../../src/model/session.ts"
import { foreignFiles } from "../../src/restore/output-files.ts"
import { foreignTargets } from "./fixtures.ts"

const BYTES = Buffer.from("what was attached").toString("base64")
const ATTACHED = [
  { role: "user", media_type: "application/pdf", file_name: "plan.pdf" },
  { role: "user", media_type: "application/x-unheard-of", file_name: "notes.bin" },
  { role: "user", media_type: "application/x-unheard-of" },
  { role: "assistant", media_type: "image/png", file_name: "drawn.png" },
  { role: "assistant", media_type: "application/pdf", file_name: "written.pdf" },
] as const

function entry(role: Role, ordinal: number, parts: readonly object[]): Entry {
  const timestamp = new Date(Date.UTC(2026, 0, 1, 12, ordinal)).toISOString()
  const message = { id: `m${ordinal}`, session_id: "s", ordinal, timestamp, role, options: {} }
  const common = { session_id: "s", message_id: message.id, provenance: "conversational", options: {} }
  return {
    message,
    parts: parts.map((part, at) => ({ ...common, id: `${message.id}:${at}`, ...part }) as Part),
  } as Entry
}

function textOf(files: readonly OutputFile[]): string {
  const texts = files.flatMap((each) => {
    if (each.form === "log") return [...each.lines].map(String)
    if (each.form === "database") return [...each.rows].map((row) => JSON.stringify(row))
    return each.form === "bytes" ? [Buffer.from(each.bytes).toString("base64")] : [each.text]
  })
  return texts.join("\n")
}

const text = (said: string) => ({ type: "text", text: said })

/** Clients that keep none with a session. */
const WITHOUT_TITLES = new Set(["iflow", "openhands"])

test.each(foreignTargets().map((target) => [target.id, target] as const))("%s: a title goes along", (id, target) => {
  const session = { id: "s", source_agent: "none", created_at: "2026-01-01T00:00:00.000Z", project: "/p", options: {} }
  const conversation = {
    session: { ...session, title: "What it is called" },
    entries: [entry("user", 0, [text("a question")]), entry("assistant", 1, [text("an answer")])],
    children: [],
  }
  const { files } = foreignFiles(target, conversation, { cwd: "/p", reasoning: "text" })
  expect(textOf(files).includes("What it is called")).toBe(!WITHOUT_TITLES.has(id))
})

describe.each(foreignTargets().map((target) => [target.id, target] as const))("%s", (_, target) => {
  test.each(ATTACHED)("$role $media_type $file_name", ({ role, ...file }) => {
    const part = { type: "file", ...file, data: { base64: BYTES } }
    const other = role === "user" ? "assistant" : "user"
    const entries = [
      ...(role === "user" ? [] : [entry(other, 0, [text("a question")])]),
      entry(role, 1, [text("with something"), part]),
      ...(role === "user" ? [entry(other, 2, [text("an answer")])] : []),
    ]
    const session = {
      id: "s",
      source_agent: "none",
      created_at: "2026-01-01T00:00:00.000Z",
      project: "/p",
      options: {},
    }
    const conversation = { session, entries, children: [] }
    const { files, losses } = foreignFiles(target, conversation, { cwd: "/p", reasoning: "text" })
    const written = textOf(files)
    const lost = losses.filter(({ kind }) => kind === "attachment").map(({ found }) => found)
    if (!file.media_type.startsWith("image/")) expect(written).not.toMatch(/"type":"(?:input_)?image"/)
    const name = "file_name" in file ? file.file_name : file.media_type
    expect({ isWritten: written.includes(BYTES), lost }).toEqual(
      written.includes(BYTES) ? { isWritten: true, lost: [] } : { isWritten: false, lost: [name] },
    )
  })
})
