/** Erasing sessions: nothing finds them, nothing brings them back, it can be taken back until it is purged, and then no byte is left. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { copyStore } from "../../src/archive/copy.ts"
import { exportArchive } from "../../src/archive/export.ts"
import { importArchive } from "../../src/archive/import.ts"
import { type Embedder, openEmbedder } from "../../src/embeddings/embedder.ts"
import { perform } from "../../src/operations/operation.ts"
import { erase } from "../../src/operations/store/erase-operations.ts"
import { ingest } from "../../src/operations/wire/ingest.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { said, session, testSessions } from "../sessions/support.ts"
import { ALL_FOUND, ERASED, filled, found, HISTORY, idsOf, NONE_FOUND, run, SECRET, signal } from "./erase-support.ts"
import type { TestPond } from "./support.ts"

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

  test("is listed before those that were made earlier", async () => {
    using box = await filled()
    await box.place.sessions.write([{ session: session("zulu", { project: "/work/nda" }), entries: [] }])
    await run(box, { session: ["zulu"], yes: true })
    await run(box, { session: ["elder"], yes: true })
    await run(box, { session: ["zulu"], undo: true })
    await run(box, { session: ["zulu"], yes: true })
    const asked = (await run(box, { list: true })).sessions.filter(({ why }) => why === "asked")
    expect(asked.map(({ session_id }) => session_id)).toEqual(["zulu", "elder"])
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
      "The session secret was already erased. `pond erase --list` shows it.",
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
