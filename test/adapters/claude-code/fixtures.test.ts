import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import type { JsonValue } from "../../../src/model/json.ts"
import type { Entry } from "../../../src/model/session.ts"
import { type Parsed, parsedRoot } from "./support.ts"

/** Sessions that real versions of the client wrote against a scripted model. Their conversations were taken from its requests. */
const FIXTURES = join(import.meta.dir, "../../../fixtures/claude-code")
const NAMES = readdirSync(FIXTURES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

async function versionOf(name: string): Promise<string> {
  const { client } = (await Bun.file(join(FIXTURES, name, "fixture.json")).json()) as { client: string }
  return client.replace("Claude Code ", "")
}

async function sessionsOf(name: string): Promise<Map<string, Parsed>> {
  return parsedRoot(join(FIXTURES, name, "root"))
}

async function sessionOf(name: string): Promise<Parsed> {
  const [first] = [...(await sessionsOf(name)).values()].filter(
    ({ session }) => session.parent_session_id === undefined,
  )
  if (first === undefined) throw new Error(`${name} has no session`)
  return first
}

test("there are fixtures of every generation", () => {
  expect(NAMES.length).toBeGreaterThanOrEqual(13)
})

describe.each(NAMES)("%s", (name) => {
  test("everything in it is understood, and its version is named", async () => {
    const version = await versionOf(name)
    const sessions = [...(await sessionsOf(name)).values()]
    expect(sessions.flatMap(({ issues }) => issues)).toEqual([])
    expect(new Set(sessions.flatMap(({ clientVersions }) => clientVersions))).toEqual(new Set([version]))
  })
})

test("a fork has the ids of its origin, each in its own session", async () => {
  const [one, other] = [...(await sessionsOf("fork")).values()]
  const ids = new Set(one?.entries.map(({ message }) => message.id))
  const both = other?.entries.filter(({ message }) => ids.has(message.id)) ?? []
  expect(both.length).toBeGreaterThan(3)
  expect(new Set(both.map(({ message }) => message.session_id))).toEqual(new Set([other?.session.id ?? ""]))
})

test("a branch that was left is kept, and not sent", async () => {
  const log = await sessionOf("rewind")
  const texts = (entries: readonly Entry[]) => JSON.stringify(entries.map(({ parts }) => parts))
  expect(texts(log.entries)).toContain("PLAIN2-ANSWER")
  expect(texts(claudeCode.context(log, []))).not.toContain("PLAIN2-ANSWER")
})

test("an agent is a session of its own, with its parent, its type and the call that started it", async () => {
  const agents = [...(await sessionsOf("agent")).values()].filter(({ session }) => session.parent_session_id)
  expect(agents.map(({ session }) => session)).toMatchObject([
    {
      id: "9b9a57e5-d547-4b23-84f8-cfda13a0759c:agent-a4ee91faa9202de16",
      parent_session_id: "9b9a57e5-d547-4b23-84f8-cfda13a0759c",
      source_agent: "claude-code/general-purpose",
      title: "Count files",
      project: "/work/alpha",
      options: { pond: { spawned_by: "toolu_01s0k0z5f4ea47953f827" } },
    },
  ])
})

test("flat agents find their parent, and those that only warm a cache are noise", async () => {
  const sessions = [...(await sessionsOf("v2.0-flat-agents")).values()].map(({ session }) => session)
  const agents = sessions.filter(({ source_agent }) => source_agent === "claude-code/agent")
  expect(new Set(agents.map((agent) => agent.parent_session_id))).toEqual(
    new Set(["9876cc5e-d24a-4bbf-b731-68dd88ef6059"]),
  )
  expect(agents.map(({ options }) => options["pond"]).filter((pond) => pond !== undefined)).toEqual(
    Array(4).fill({ noise: "warmup" }),
  )
  expect(agents.length).toBe(5)
})

test("an agent of 1.0 is marked inside its session, and not sent", async () => {
  const log = await sessionOf("v1.0-agent-inside")
  const side = log.entries.filter(
    ({ message }) => (message.options["pond"] as JsonMark | undefined)?.["sidechain"] === true,
  )
  expect(side.length).toBe(5)
  const sent = new Set(claudeCode.context(log, []).map(({ message }) => message.id))
  expect(side.filter(({ message }) => sent.has(message.id))).toEqual([])
})

test("a saved result is a record of its session", async () => {
  const { unit, entries } = await sessionOf("spill")
  expect(
    unit.files.map(({ relativePath: place, form }) => [place.split("/").slice(-2).join("/"), form]),
  ).toContainEqual(["tool-results/bh4masje2.txt", "text"])
  const kept = entries
    .map(({ message }) => message.options["source"] as JsonMark)
    .filter((source) => source["form"] === "text")
  expect(kept.map((source) => String(source["text"]).slice(0, 23))).toEqual(["line 1 of the long list"])
})

type JsonMark = Readonly<Record<string, JsonValue>>
