/** Sessions to erase: one with a secret, with an agent and a fork, among others, and whatever still finds it. */
import { join } from "node:path"
import { copyStore } from "../../src/archive/copy.ts"
import { exportArchive } from "../../src/archive/export.ts"
import type { Entry } from "../../src/model/session.ts"
import { perform } from "../../src/operations/operation.ts"
import { sql } from "../../src/operations/sql/sql.ts"
import { erase } from "../../src/operations/store/erase-operations.ts"
import type { EraseOutput } from "../../src/operations/store/erase-shapes.ts"
import { get } from "../../src/operations/wire/get.ts"
import { search } from "../../src/operations/wire/search.ts"
import { sessions as listSessions } from "../../src/operations/wire/sessions.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { said, session, testSessions } from "../sessions/support.ts"
import { type TestPond, testPond } from "./support.ts"

export const signal = new AbortController().signal
export const SECRET = "hunter2swordfish"
const at = (minute: number) => `2026-01-31T12:${String(minute).padStart(2, "0")}:00.000Z`

/** Distinct bytes that do not compress, so that they can be searched for in a file. */
export function bytesOf(seed: string, length = 200_000): Buffer {
  const bytes = Buffer.alloc(length)
  for (let place = 0; place < length; place += 8) bytes.writeBigUInt64LE(Bun.hash.xxHash64(`${seed}${place}`), place)
  return bytes
}

function withFile(entry: Entry, seed: string): Entry {
  const file = {
    id: `${entry.message.id}:file`,
    session_id: entry.message.session_id,
    message_id: entry.message.id,
    provenance: "conversational",
    options: {},
    type: "file",
    media_type: "image/png",
    data: { type: "base64", base64: bytesOf(seed).toString("base64") },
  }
  return { ...entry, parts: [...entry.parts, file] } as unknown as Entry
}

export const HISTORY = (id: string) => [
  said(id, 0, `the password is ${SECRET}`, { id: "m-one", timestamp: at(1) }),
  said(id, 1, `${SECRET} noted`, { id: "m-two", role: "assistant", timestamp: at(2) }),
]

/** A session with an agent, a fork that copies it without a word, an older session that it continues, and others. */
async function fill(sessions: Sessions): Promise<void> {
  await sessions.write([
    {
      session: session("elder", { project: "/work/open" }),
      entries: [said("elder", 0, "an elder question", { timestamp: at(0) })],
    },
    {
      session: session("secret", { project: "/work/nda", title: `about ${SECRET}`, parent_session_id: "elder" }),
      entries: [
        ...HISTORY("secret"),
        withFile(said("secret", 2, "see this", { id: "m-file", timestamp: at(3) }), "own"),
        withFile(said("secret", 3, "and this", { id: "m-shared", timestamp: at(4) }), "shared"),
      ],
    },
    {
      session: session("secret-agent", {
        project: "/work/nda",
        source_agent: "test-client/explorer",
        parent_session_id: "secret",
      }),
      entries: [said("secret-agent", 0, `searching for ${SECRET}`, { id: "a0" })],
    },
    {
      session: session("open", { project: "/work/open" }),
      entries: [
        said("open", 0, "an open question", { id: "o0" }),
        withFile(said("open", 1, "the same picture", { id: "o1" }), "shared"),
      ],
    },
  ])
  await sessions.write([
    {
      session: session("fork", { project: "/work/nda" }),
      entries: [...HISTORY("fork"), said("fork", 2, "going on", { id: "f2" })],
    },
  ])
}

export async function filled(): Promise<TestPond> {
  const made = testPond()
  await fill(made.place.sessions)
  return made
}

export async function run(box: TestPond, input: object): Promise<EraseOutput> {
  return (await perform(erase, { pond: box.pond, signal }, input)) as EraseOutput
}

export const ERASED = ["fork", "secret", "secret-agent"]
export const idsOf = ({ sessions }: Pick<EraseOutput, "sessions">) => sessions.map((each) => each.session_id).toSorted()

/** What every way of asking says of the secret: nothing, where it is erased. */
export async function found(box: TestPond): Promise<Record<string, unknown>> {
  const asked = async (operation: never, input: object) => JSON.stringify(await box.run(operation, input))
  const withSecret = (text: string) => text.includes(SECRET) || text.includes('"secret"') || text.includes('"fork"')
  const searched = async (input: object) =>
    withSecret(await asked(search as never, { filters: { include_subagents: true }, limit: 50, ...input }))
  const exported = join(box.place.path, `${crypto.randomUUID()}.pond`)
  const report = await exportArchive(box.place.sessions.store, { path: exported, isForced: false, filter: undefined }, {
    signal,
    onStage: () => undefined,
    onRows: () => undefined,
    clock: systemClock,
  } as never)
  const target = testSessions()
  await copyStore(box.place.sessions, target.sessions, { isVerifyOnly: false }, {
    signal,
    onStage: () => undefined,
    onRows: () => undefined,
  } as never)
  const copiedSessions = (await target.sessions.counts()).sessions
  target[Symbol.dispose]()
  return {
    words: await searched({ query: "password" }),
    exact: await searched({ query: `"${SECRET}"`, mode: "exact", scope: "all" }),
    pattern: await searched({ query: "hunter2s.*", mode: "pattern", scope: "all" }),
    list: withSecret(await asked(listSessions as never, { filters: { include_subagents: true } })),
    get: await box.run(get, { session_id: "secret" }).then(
      () => true,
      () => false,
    ),
    sql: withSecret(
      await asked(sql as never, {
        sql: "select id, title from sessions union all select session_id, search_text from messages union all select session_id, text from parts",
      }),
    ),
    exported: (report as { sessions: number }).sessions,
    copied: copiedSessions,
    counts: (await box.place.sessions.counts()).sessions,
  }
}

export const ALL_FOUND = {
  words: true,
  exact: true,
  pattern: true,
  list: true,
  get: true,
  sql: true,
  exported: 5,
  copied: 5,
  counts: 5,
}
export const NONE_FOUND = {
  words: false,
  exact: false,
  pattern: false,
  list: false,
  get: false,
  sql: false,
  exported: 2,
  copied: 2,
  counts: 2,
}
