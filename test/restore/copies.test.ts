/**
 * A session that goes on in another client, and comes back from there, is one conversation: what pond wrote into a client
 * is known as a copy when it is synced, and what was said there since is stored once.
 */
import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { appendFileSync, cpSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { adapterById } from "../../src/adapters/registry.ts"
import { planRestoreOf, restore } from "../../src/operations/machine/restore.ts"
import { recentSessions } from "../../src/operations/store/recent-sessions.ts"
import { statsOf } from "../../src/operations/store/session-statistics.ts"
import { get } from "../../src/operations/wire/get.ts"
import { search } from "../../src/operations/wire/search.ts"
import { sessions as list, type SessionsOutput } from "../../src/operations/wire/sessions.ts"
import { eq } from "../../src/substrate/filter.ts"
import { memoryPond, type TestPond } from "../operations/support.ts"
import { syncedInto } from "./support.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")
const LATER = Date.parse("2026-11-25T02:00:00.000Z")

// --- What each client writes when its user says one more thing ----------------------------------------------------------

interface Said {
  readonly sessionId: string
  readonly text: string
  readonly moment: string
}

type GoOn = (path: string, said: Said) => void

const goOnInDatabase: GoOn = (path, { text, moment, sessionId }) => {
  using database = new Database(path)
  const id = `msg_zzz${Date.parse(moment)}`
  database.run(
    `insert into message (id, session_id, time_created, time_updated, data)
     select ?, session_id, ?, ?, data from message where data like '%"user"%' and session_id = ? limit 1`,
    [id, Date.parse(moment), Date.parse(moment), sessionId],
  )
  database.run(
    `insert into part (id, message_id, session_id, time_created, time_updated, data)
     select 'prt_' || id, id, session_id, time_created, time_updated, ? from message where id = ?`,
    [JSON.stringify({ type: "text", text }), id],
  )
}

const goOnInClaude: GoOn = (path, { sessionId, text, moment: timestamp }) =>
  add(path, {
    ...{ uuid: crypto.randomUUID(), parentUuid: last(path, "uuid"), sessionId, timestamp },
    ...{ type: "user", isSidechain: false, message: { role: "user", content: text } },
  })

const GOES_ON: Readonly<Record<string, GoOn>> = {
  "claude-code": goOnInClaude,
  "xcode-claude": goOnInClaude,
  "claude-desktop": goOnInClaude,
  codex: (path, { text, moment: timestamp }) => {
    const payload = { type: "message", role: "user", content: [{ type: "input_text", text }] }
    add(path, { timestamp, type: "response_item", payload })
  },
  opencode: goOnInDatabase,
  kilo: goOnInDatabase,
  pi: (path, { text, moment: timestamp }) => {
    const message = { role: "user", content: [{ type: "text", text }], timestamp: Date.parse(timestamp) }
    const id = crypto.randomUUID().slice(0, 8)
    add(path, { type: "message", id, parentId: last(path, "id"), timestamp, message })
  },
  "gemini-cli": (path, { text, moment: timestamp }) =>
    add(path, { id: crypto.randomUUID(), timestamp, type: "user", content: [{ text }] }),
  "qwen-code": (path, { sessionId, text, moment: timestamp }) =>
    add(path, {
      ...{ uuid: crypto.randomUUID(), parentUuid: last(path, "uuid"), sessionId, timestamp },
      ...{ type: "user", provenance: "real_user", message: { role: "user", parts: [{ text }] } },
    }),
  "copilot-cli": (path, { text, moment: timestamp }) =>
    add(path, {
      ...{ type: "user.message", data: { content: text } },
      ...{ id: crypto.randomUUID(), parentId: last(path, "id"), timestamp },
    }),
}

function add(path: string, record: object): void {
  appendFileSync(path, `${JSON.stringify(record)}\n`)
}

function last(path: string, key: string): unknown {
  const lines = readFileSync(path, "utf8").split("\n")
  const records = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>)
  return records.findLast((record) => typeof record[key] === "string")?.[key]
}

// --- One conversation ---------------------------------------------------------------------------------------------------

/** A store, and the root of each client on this machine. */
interface Machine {
  readonly place: TestPond
  readonly rootOf: (adapter: string) => string
}

async function machineWith(place: TestPond, adapter: string, fixture = "tools"): Promise<Machine> {
  const rootOf = (name: string) => join(place.place.path, "clients", name)
  mkdirSync(join(place.place.path, "clients"))
  cpSync(join(FIXTURES, adapter, fixture, "root"), rootOf(adapter), { recursive: true })
  await sync({ place, rootOf }, adapter)
  return { place, rootOf }
}

async function sync({ place, rootOf }: Machine, adapter: string, isFull = false) {
  const found = adapterById(adapter)
  if (found === undefined) throw new Error(`no adapter ${adapter}`)
  const { sessions, messages, issues } = await syncedInto(place, found, rootOf(adapter), isFull)
  return { failed: sessions.failed, messages: messages.new, issues: issues.map(({ kind }) => kind) }
}

/** Restores into a client, and syncs what was written there. */
async function carry({ place, rootOf }: Machine, sessionId: string, to: string) {
  mkdirSync(rootOf(to), { recursive: true })
  const options = { sessionId, to, root: rootOf(to), reasoning: "text" as const, isForced: false, isAnew: true }
  using plan = await planRestoreOf(place.pond, options)
  const { files, session_id: id } = await restore(place.pond, plan, options)
  await sync({ place, rootOf }, to)
  return { id, path: files[0]?.path ?? "" }
}

async function sessionsThat(place: TestPond, query: string) {
  const found = (await place.run(search, { query, mode: "exact" })) as {
    readonly sessions: readonly { readonly session_id: string; readonly matched_message_count: number }[]
  }
  return found.sessions.map(({ session_id, matched_message_count: count }) => ({ session_id, count }))
}

async function told(place: TestPond, sessionId: string): Promise<string> {
  return JSON.stringify(await place.run(get, { session_id: sessionId, limit: 1000 }))
}

const CLIENTS = Object.keys(GOES_ON)
const PAIRS =
  process.env["POND_ALL_PAIRS"] === undefined
    ? CLIENTS.map((from, index) => [from, CLIENTS[(index + 1) % CLIENTS.length] ?? from] as const)
    : CLIENTS.flatMap((from) => CLIENTS.map((to) => [from, to] as const))

test.each(PAIRS)("%s to %s and back, with a turn in each: one conversation with both turns", async (from, to) => {
  using place = memoryPond()
  const machine = await machineWith(place, from)
  const { sessions } = place.place
  const [{ id: original } = { id: "" }] = await sessions.tables.sessions.read({
    columns: ["id", "source_agent"],
    where: eq("source_agent", from),
  })
  const before = await statsOf(place.pond, { by: "day" }, new AbortController().signal)

  const there = await carry(machine, original, to)
  expect(await statsOf(place.pond, { by: "day" }, new AbortController().signal)).toEqual(before)
  expect(((await place.run(list, {})) as SessionsOutput).sessions.map((each) => each.session_id)).toEqual([original])

  GOES_ON[to]?.(there.path, { sessionId: there.id, text: "kingfisher", moment: new Date(LATER).toISOString() })
  expect(await sync(machine, to)).toMatchObject({ failed: 0, messages: 1 })
  expect(await sessionsThat(place, "kingfisher")).toEqual([{ session_id: original, count: 1 }])

  const back = await carry(machine, there.id, from)
  GOES_ON[from]?.(back.path, { sessionId: back.id, text: "woodpecker", moment: new Date(LATER + 60_000).toISOString() })
  expect(await sync(machine, from)).toMatchObject({ failed: 0, messages: 1 })
  for (const client of [from, to]) expect(await sync(machine, client, true)).toMatchObject({ failed: 0, messages: 0 })

  for (const word of ["kingfisher", "woodpecker"])
    expect(await sessionsThat(place, word)).toEqual([{ session_id: original, count: 1 }])
  const listed = ((await place.run(list, {})) as SessionsOutput).sessions
  expect(listed.map(({ session_id, conversation }) => [session_id, conversation])).toEqual([
    [back.id, [original, there.id]],
  ])
  expect((await recentSessions(place.pond, 10)).sessions.map(({ id }) => id)).toEqual([back.id])
  const text = await told(place, back.id)
  expect(["kingfisher", "woodpecker"].filter((word) => text.includes(word))).toEqual(["kingfisher", "woodpecker"])
  const after = await statsOf(place.pond, { by: "day" }, new AbortController().signal)
  expect([after.count, after.sessions]).toEqual([before.count + 2, before.sessions])
})
