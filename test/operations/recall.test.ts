/** What the hooks of clients are told: never what is before the model already, nothing from elsewhere, no credential. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Entry } from "../../src/model/session.ts"
import { recall, tokensOf } from "../../src/operations/wire/recall.ts"
import { sessionNotes } from "../../src/operations/wire/session-notes.ts"
import { said, session } from "../sessions/support.ts"
import { memoryPond, type TestPond } from "./support.ts"

const SHOP = { project: "/home/dev/work/shop" }
const DECISION =
  "We decided to run pgbouncer in transaction mode, so prepared statements must be off in the connection pool."
const PROMPT = "Configure the database connection pool of pgbouncer."
const KEY = `sk-ant-api03-${"a1B2c3D4".repeat(10)}`

let box: TestPond
beforeAll(async () => {
  box = memoryPond()
  const { sessions } = box.place
  await sessions.write([
    { session: session("old", { ...SHOP, title: "Pooling" }), entries: [said("old", 0, DECISION, { id: "d" })] },
    {
      session: session("fork", { ...SHOP, parent_session_id: "old" }),
      entries: [
        said(
          "fork",
          0,
          "Never raise the ingress limit of the websocket gateway above two megabytes, the replicas in Frankfurt crashed.",
          { id: "f" },
        ),
      ],
    },
    {
      session: session("secret", SHOP),
      entries: [
        said(
          "secret",
          0,
          `The Mailgun sender must use the key ${KEY} because the sandbox of staging has no other account, and the people who run it do not want to make another one before the summer.`,
          { id: "k" },
        ),
      ],
    },
  ])
  await sessions.origins.note("archive", ["stranger"])
  await sessions.write([
    {
      session: session("stranger", SHOP),
      entries: [said("stranger", 0, "We must never sign the Terraform lockfile, always delete it.", { id: "x" })],
    },
  ])
})
afterAll(() => box[Symbol.dispose]())

interface Told {
  readonly passages: readonly { readonly message_id: string; readonly text: string; readonly truncated: boolean }[]
}

async function ask(prompt: string, input: object = {}): Promise<Told> {
  return (await box.run(recall, { prompt, near: SHOP.project, ...input })) as Told
}
const idsOf = ({ passages }: Told) => passages.map(({ message_id }) => message_id)

test("a decision with its message, session and title", async () => {
  expect(await ask(PROMPT)).toMatchObject({
    passages: [{ message_id: "d", short_id: "d", session_id: "old", title: "Pooling", role: "user", text: DECISION }],
  })
})

test("nothing of the running session, of what it was forked from, or of its forks", async () => {
  expect(idsOf(await ask(PROMPT, { session_id: "old" }))).toEqual([])
  expect(idsOf(await ask(PROMPT, { session_id: "fork" }))).toEqual([])
  expect(idsOf(await ask("Raise the ingress limit of the websocket gateway.", { session_id: "old" }))).toEqual([])
  expect(idsOf(await ask("Raise the ingress limit of the websocket gateway."))).toEqual(["f"])
  // Not stored yet, as at its first prompt.
  expect(idsOf(await ask(PROMPT, { session_id: "new" }))).toEqual(["d"])
})

test("nothing that a copy of its messages gave to the running session", async () => {
  await box.place.sessions.write([
    {
      session: session("copied", SHOP),
      entries: [said("copied", 0, DECISION, { id: "d" }), said("copied", 1, "go on", { id: "d2" })],
    },
  ])
  expect(idsOf(await ask(PROMPT, { session_id: "copied" }))).toEqual([])
})

test("nothing that it was told before", async () => {
  expect(idsOf(await ask(PROMPT, { without: ["d"] }))).toEqual([])
})

test("nothing of a session that came from elsewhere", async () => {
  expect(idsOf(await ask("Sign the Terraform lockfile."))).toEqual([])
})

test("no credential", async () => {
  const { passages } = await ask("Rotate the key of the Mailgun sender in the sandbox.")
  expect(passages).toHaveLength(1)
  expect(passages[0]?.text).not.toContain(KEY)
  expect(passages[0]?.text).toContain("[redacted")
})

test("no more than the room", async () => {
  const { passages } = await ask(PROMPT, { tokens: 30 })
  expect(passages).toMatchObject([{ message_id: "d", truncated: true }])
  expect(tokensOf(passages[0]?.text ?? "")).toBeLessThanOrEqual(30)
  expect(await box.run(recall, { prompt: PROMPT, near: "/", tokens: 10 }).catch(({ code }) => code)).toBe(
    "validation_failed",
  )
})

test("notes of a session: what the person settled, and the commands that worked", async () => {
  const call = (at: number, command: string, isFailure = false): Entry[] => {
    const common = { session_id: "run", provenance: "conversational", options: {} }
    const { message } = said("run", 2 * at, "", { id: `c${at}`, role: "assistant" })
    const ran = { ...common, message_id: `c${at}`, id: `c${at}:0`, type: "tool_call", call_id: `t${at}`, name: "Bash" }
    const done = { ...common, message_id: `o${at}`, id: `o${at}:0`, type: "tool_result", call_id: `t${at}`, result: "" }
    return [
      { message, parts: [{ ...ran, params: { command }, provider_executed: false }] },
      {
        message: { ...said("run", 2 * at + 1, "", { id: `o${at}` }).message, role: "tool" },
        parts: [{ ...done, is_failure: isFailure }],
      },
    ] as unknown as Entry[]
  }
  await box.place.sessions.write([
    {
      session: session("run", { ...SHOP, source_agent: "claude-code" }),
      entries: [
        said("run", 0, "Never push to main. Add a button."),
        ...call(1, "make ship ENV=staging"),
        ...call(2, "ls -la"),
        ...call(3, "make broken", true),
        ...call(4, "make ship ENV=staging"),
        ...call(5, `curl -H 'x-api-key: ${KEY}' localhost`),
      ],
    },
  ])
  const notes = await box.run(sessionNotes, { session_id: "run" })
  expect(notes).toEqual({
    decisions: [{ text: "Never push to main.", message_id: "m0", short_id: "m0" }],
    commands: [
      { command: "make ship ENV=staging", message_id: "c4", short_id: "c4", times: 2 },
      { command: expect.not.stringContaining(KEY), message_id: "c5", short_id: "c5", times: 1 },
    ],
  })
  expect(await box.run(sessionNotes, { session_id: "run", tokens: 50 })).toMatchObject({ decisions: [{}] })
})
