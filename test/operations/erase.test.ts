/** Erasing sessions: nothing finds them, nothing brings them back, it can be taken back until it is purged, and then no byte is left. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { copyStore } from "../../src/archive/copy.ts"
import { exportArchive } from "../../src/archive/export.ts"
import { importArchive } from "../../src/archive/import.ts"
import { type Embedder, openEmbedder } from "../../src/embeddings/embedder.ts"
import type { Entry } from "../../src/model/session.ts"
import { perform } from "../../src/operations/operation.ts"
import { sql } from "../../src/operations/sql/sql.ts"
import { erase } from "../../src/operations/store/erase-operations.ts"
import type { EraseOutput } from "../../src/operations/store/erase-shapes.ts"
import { get } from "../../src/operations/wire/get.ts"
import { ingest } from "../../src/operations/wire/ingest.ts"
import { search } from "../../src/operations/wire/search.ts"
import { sessions as listSessions } from "../../src/operations/wire/sessions.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { embedMissing } from "../../src/search/embed-missing.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { said, session, testSessions } from "../sessions/support.ts"
import { type TestPond, testPond } from "./support.ts"

const modelPlace = mkdtempSync(join(tmpdir(), "pond-erase-model-"))
let embedder: Embedder

beforeAll(async () => {
  writeTinyModel(modelPlace)
  embedder = await openEmbedder("tiny", modelPlace)
})
afterAll(async () => {
  await embedder.close()
  rmSync(modelPlace, { recursive: true, force: true })
})

const signal = new AbortController().signal
const SECRET = "hunter2swordfish"
const at = (minute: number) => `2026-01-31T12:${String(minute).padStart(2, "0")}:00.000Z`

/** Distinct bytes that do not compress, so that they can be searched for in a file. */
function bytesOf(seed: string, length = 200_000): Buffer {
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

const HISTORY = (id: string) => [
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

async function filled(): Promise<TestPond> {
  const made = testPond()
  await fill(made.place.sessions)
  return made
}

async function run(box: TestPond, input: object): Promise<EraseOutput> {
  return (await perform(erase, { pond: box.pond, signal }, input)) as EraseOutput
}

const ERASED = ["fork", "secret", "secret-agent"]
const idsOf = ({ sessions }: Pick<EraseOutput, "sessions">) => sessions.map((each) => each.session_id).toSorted()

/** What every way of asking says of the secret: nothing, where it is erased. */
async function found(box: TestPond): Promise<Record<string, unknown>> {
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

const ALL_FOUND = {
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
const NONE_FOUND = {
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

describe("an erasure", () => {
  test("takes sub-agents and copies with it, and says so before it does", async () => {
    using box = await filled()
    const plan = await run(box, { session: ["secret"] })
    expect(plan).toMatchObject({ action: "plan", messages: 8, attachments: 2, shared_attachments: null, purged: null })
    expect(plan.sessions.map(({ session_id, why, because }) => `${session_id} ${why} ${because}`).toSorted()).toEqual([
      "fork copy secret",
      "secret asked null",
      "secret-agent child secret",
    ])
    expect(await run(box, { session: ["secret"], purge: true, dry_run: true, yes: true })).toMatchObject({
      action: "plan",
      shared_attachments: 1,
    })
    expect(await found(box)).toEqual(ALL_FOUND)
  })

  test("is asked for, and does nothing without a yes", async () => {
    using box = await filled()
    const asked: unknown[] = []
    const confirm = (plan: unknown) => Promise.resolve(asked.push(plan) > 99)
    expect(await perform(erase, { pond: box.pond, signal, confirm }, { session: ["fork"] })).toMatchObject({
      action: "plan",
    })
    expect(asked).toMatchObject([{ is_purge: false, messages: 3 }])
    expect(await found(box)).toEqual(ALL_FOUND)
  })

  test.each(["command", "server"] as const)(
    "hides them from everything that reads, for a %s, and undoing it brings all back",
    async (lifetime) => {
      using box = await filled()
      await box.place.sessions.maintain("all")
      const other = box.place.open(lifetime)
      const seen = {
        ...box,
        pond: { ...box.pond, sessions: () => Promise.resolve(other) },
        place: { ...box.place, sessions: other },
      }
      const runSeen = {
        ...seen,
        run: (operation: never, input: never) => perform(operation, { pond: seen.pond, signal }, input),
      } as unknown as TestPond
      expect(await found(runSeen)).toEqual(ALL_FOUND)
      expect(idsOf(await run(box, { session: ["secret"], yes: true }))).toEqual(ERASED)
      expect(await found(runSeen)).toEqual(NONE_FOUND)
      expect(idsOf(await run(box, { list: true }))).toEqual(ERASED)
      expect(
        idsOf(
          await run(box, { session: ["secr"], undo: true }).catch(
            (error) => ({ sessions: [{ session_id: error.message }] }) as never,
          ),
        ),
      ).toEqual(["The id secr is ambiguous. `pond erase --list` shows what is erased."])
      expect(idsOf(await run(box, { session: ["secret"], undo: true }))).toEqual(ERASED)
      expect(await found(runSeen)).toEqual(ALL_FOUND)
      expect(idsOf(await run(box, { list: true }))).toEqual([])
    },
  )

  test("by filters takes every session of a project, with and without words", async () => {
    using box = await filled()
    await box.place.sessions.write([{ session: session("silent", { project: "/work/nda" }), entries: [] }])
    expect(idsOf(await run(box, { filters: { project: { within: "/work/nda" } }, yes: true }))).toEqual([
      ...ERASED,
      "silent",
    ])
    expect(idsOf(await run(box, { filters: { project: { contains: "nda" } } }))).toEqual([])
  })

  test("of sessions in which a credential stands is fed by what `secrets` finds", async () => {
    using box = await filled()
    const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`
    await box.place.sessions.write([
      {
        session: session("leaky", { project: "/work/open" }),
        entries: [said("leaky", 0, `use ${token}`, { id: "k0" })],
      },
    ])
    expect(idsOf(await run(box, { secrets: true }))).toEqual(["leaky"])
    expect(idsOf(await run(box, { secrets: true, filters: { project: { contains: "nda" } } }))).toEqual([])
    expect(idsOf(await run(box, { secrets: true, yes: true }))).toEqual(["leaky"])
    expect(idsOf(await run(box, { secrets: true }))).toEqual([])
  })

  test("without a name, of nothing, or of what is erased already says what to do", async () => {
    using box = await filled()
    const refusal = async (input: object) =>
      await run(box, input).then(
        () => "",
        (error: Error) => error.message,
      )
    expect(await refusal({ yes: true })).toBe(
      "Name what to erase: the ids of sessions, or filters such as --project. `pond list` shows sessions.",
    )
    expect(await refusal({ session: ["nobody"], yes: true })).toBe(
      "No session nobody. `pond list` shows what is stored.",
    )
    await run(box, { session: ["secret"], yes: true })
    expect(await refusal({ session: ["secret"], yes: true })).toBe(
      "The session secret is erased already. `pond erase --list` shows it.",
    )
  })
})

describe("what is erased does not come back", () => {
  test("by a write, a wire, an export file, a copy, a late sub-agent, or a late copy under another id", async () => {
    using box = await filled()
    const { sessions } = box.place
    const file = join(box.place.path, "before.pond")
    const work = { signal, onStage: () => undefined, onRows: () => undefined, clock: systemClock } as never
    await exportArchive(sessions.store, { path: file, isForced: false, filter: undefined }, work)
    using elsewhere = testSessions()
    await copyStore(sessions, elsewhere.sessions, { isVerifyOnly: false }, work)
    await run(box, { session: ["secret"], yes: true, purge: true })
    const blobs = (await sessions.counts()).blobs

    const again = {
      session: session("secret", { project: "/work/nda" }),
      entries: [...HISTORY("secret"), said("secret", 9, "more", { id: "m9" })],
    }
    expect(await sessions.write([again])).toMatchObject([{ status: "erased", inserted: { messages: 0 } }])
    const late = [
      {
        session: session("late-agent", { parent_session_id: "secret" }),
        entries: [said("late-agent", 0, "hello", { id: "l0" })],
      },
      { session: session("late-fork"), entries: [...HISTORY("late-fork"), said("late-fork", 2, "on", { id: "lf" })] },
      { session: session("welcome"), entries: [said("welcome", 0, "something else", { id: "w0" })] },
    ]
    const written = (await sessions.write(late)).map(({ sessionId, status }) => `${sessionId} ${status}`)
    expect(new Set(written)).toEqual(new Set(["late-agent erased", "late-fork erased", "welcome stored"]))
    const events = [
      { kind: "session", ...again.session },
      ...again.entries.flatMap(({ message, parts }) => [
        { kind: "message", ...message },
        ...parts.map((part) => ({ kind: "part", ...part })),
      ]),
    ]
    expect(await box.run(ingest, { events })).toMatchObject({ results: [{ session_id: "secret", status: "erased" }] })

    const imported = await importArchive(sessions, { path: file, isDryRun: false }, work)
    expect({ erased: imported.erased.toSorted(), inserted: imported.inserted }).toMatchObject({
      erased: ERASED,
      inserted: { sessions: 0, messages: 0, parts: 0, blobs: 0 },
    })
    const copied = await copyStore(elsewhere.sessions, sessions, { isVerifyOnly: false }, work)
    expect({
      erased: copied.erased.toSorted(),
      ok: copied.ok,
      missing: copied.missing.messages,
      copied: copied.copied,
    }).toMatchObject({
      erased: ERASED,
      ok: true,
      missing: 0,
      copied: { sessions: 0, messages: 0, blobs: 0 },
    })
    expect(await copyStore(elsewhere.sessions, sessions, { isVerifyOnly: true }, work)).toMatchObject({ ok: true })
    expect(await sessions.counts()).toMatchObject({ sessions: 3, blobs })
    expect(idsOf(await run(box, { list: true }))).toEqual(["fork", "late-agent", "late-fork", "secret", "secret-agent"])
  })

  test("a copied store keeps out what its source has erased, and keeps what it had", async () => {
    using box = await filled()
    using target = testSessions()
    await target.sessions.write([
      {
        session: session("secret-agent", { project: "/work/nda", source_agent: "test-client/explorer" }),
        entries: [said("secret-agent", 0, `searching for ${SECRET}`, { id: "a0" })],
      },
    ])
    await run(box, { session: ["secret"], yes: true })
    await copyStore(box.place.sessions, target.sessions, { isVerifyOnly: false }, {
      signal,
      onStage: () => undefined,
      onRows: () => undefined,
    } as never)
    expect((await target.sessions.session("secret-agent"))?.id).toBe("secret-agent")
    expect(await target.sessions.write([{ session: session("secret"), entries: HISTORY("secret") }])).toMatchObject([
      { status: "erased" },
    ])
  })
})

describe("a purge", () => {
  const filesBelow = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))

  test("leaves no byte in any file, keeps the attachment that another session uses, and everything else whole", async () => {
    using box = await filled()
    const { sessions, path } = box.place
    await embedMissing(sessions, embedder, { signal, clock: systemClock, onProgress: () => undefined } as never)
    await sessions.maintain("all")
    await sessions.write([
      { session: session("after"), entries: [said("after", 0, "stored after the index", { id: "x0" })] },
    ])
    const logs = async () => await Promise.all(["elder", "open", "after"].map((id) => sessions.log(id)))
    const before = await logs()
    const holding = (bytes: string | Buffer) => filesBelow(path).filter((file) => readFileSync(file).includes(bytes))
    const own = bytesOf("own").subarray(1000, 1064)
    const shared = bytesOf("shared").subarray(1000, 1064)
    expect(holding(SECRET).length).toBeGreaterThan(1)
    expect(holding(own).length).toBe(1)
    const vectors = (await sessions.erasure.size(["secret", "fork", "secret-agent"])).vectors
    expect(vectors).toBeGreaterThan(3)
    const old = new Set(
      filesBelow(path).filter((file) =>
        /\/(?:messages|parts|sessions|embeddings_\d+|word_\w+)\.lance\/(?:data|_indices)\//.test(file),
      ),
    )

    const done = await run(box, { session: ["secret"], yes: true, purge: true })
    expect(done).toMatchObject({
      action: "erase",
      purged: { sessions: 3, removed: { sessions: 3, messages: 8, blobs: 1 } },
    })
    expect(done.sessions.map(({ state }) => state)).toEqual(["purged", "purged", "purged"])
    expect(holding(SECRET)).toEqual([])
    expect(holding(own)).toEqual([])
    expect(holding(shared).length).toBe(1)
    // Whatever is compressed: no file that could have held a row of them is left.
    expect(filesBelow(path).filter((file) => old.has(file))).toEqual([])
    expect(await logs()).toEqual(before)
    expect(await found(box)).toMatchObject({ ...NONE_FOUND, exported: 3, copied: 3, counts: 3 })
    expect(JSON.stringify(await box.run(search as never, { query: "question" } as never))).toContain("an open question")
    const checked = await sessions.store.check({ isDeep: true })
    expect(checked.flatMap(({ damaged }) => damaged)).toEqual([])
    expect(await sessions.store.repair()).toEqual([])
    expect(await run(box, { purge: true, yes: true })).toMatchObject({ action: "plan", sessions: [], waiting: 0 })
  })

  test("that was cut off is known, hides all the while, and is finished by the next one", async () => {
    using box = await filled()
    const { sessions, path } = box.place
    await run(box, { session: ["secret"], yes: true })
    const stop = (name: string) => {
      if (name === "messages") throw new Error("killed")
    }
    await expect(sessions.erasure.purge({ onTable: stop })).rejects.toThrow("killed")
    expect((await run(box, { list: true })).sessions.map(({ state }) => state)).toEqual([
      "purging",
      "purging",
      "purging",
    ])
    expect(await found(box)).toEqual(NONE_FOUND)
    expect(await run(box, { purge: true, yes: true })).toMatchObject({ purged: { sessions: 3 } })
    expect(filesBelow(path).filter((file) => readFileSync(file).includes(SECRET))).toEqual([])
  })

  test("and new messages are found by words, also where the last of them was purged", async () => {
    using box = await filled()
    const { sessions } = box.place
    await sessions.maintain("all")
    await run(box, { session: ["fork"], yes: true, purge: true })
    await sessions.maintain("all")
    const hits = async (query: string) => JSON.stringify(await box.run(search as never, { query } as never))
    expect(await hits("question")).toContain("an open question")
    await sessions.write([{ session: session("new"), entries: [said("new", 0, "a giraffe question", { id: "n0" })] }])
    expect(await hits("giraffe")).toContain("a giraffe question")
    await sessions.maintain("all")
    expect(await hits("giraffe")).toContain("a giraffe question")
    expect(await hits("password")).toContain(SECRET)
  })
})
