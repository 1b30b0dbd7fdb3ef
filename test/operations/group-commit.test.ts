import { expect, test } from "bun:test"
import { type IngestOutput, ingest } from "../../src/operations/wire/ingest.ts"
import { said, session } from "../sessions/support.ts"
import { type TestPond, testPond } from "./support.ts"

function events(id: string, text: string): object[] {
  const { message, parts } = said(id, 0, text)
  return [
    { kind: "session", ...session(id) },
    { kind: "message", ...message },
    ...parts.map((part) => ({ kind: "part", ...part })),
  ]
}

async function send(box: TestPond, id: string, text = "hello"): Promise<IngestOutput["results"]> {
  return ((await box.run(ingest, { events: events(id, text) })) as IngestOutput).results
}

test("writes that come at once share commits, and each is told of its own", async () => {
  using box = testPond()
  await send(box, "first")
  const version = async () => (await box.place.sessions.tables.messages.statistics())?.version ?? 0
  const before = await version()
  const ids = Array.from({ length: 24 }, (_, at) => `s${at}`)
  const results = await Promise.all(ids.map((id) => send(box, id)))
  expect(results).toEqual(
    ids.map((id) => [{ session_id: id, status: "stored" as const, inserted: { messages: 1, parts: 1 } }]),
  )
  expect((await version()) - before).toBeLessThanOrEqual(3)
  expect(await box.place.sessions.counts()).toMatchObject({ sessions: 25, messages: 25, parts: 25 })
})

test("of two that bring one session the second is told what it is by then", async () => {
  using box = testPond()
  const results = await Promise.all([send(box, "s"), send(box, "s"), send(box, "other")])
  expect(results.map(([result]) => result?.status)).toEqual(["stored", "unchanged", "stored"])
})

test("a write that fails fails for those that were in it, and the next one is tried", async () => {
  using box = testPond()
  const { writeArriving } = box.place.sessions
  let isBroken = true
  const sessions = {
    ...box.place.sessions,
    writeArriving: (batches: Parameters<typeof writeArriving>[0]) =>
      isBroken ? Promise.reject(new Error("the disk is gone")) : writeArriving(batches),
  }
  const broken = { ...box.pond, sessions: () => Promise.resolve(sessions) }
  const signal = new AbortController().signal
  const sent = ["a", "b"].map((id) => ingest.run({ pond: broken, signal }, { events: events(id, "hello") }))
  expect((await Promise.allSettled(sent)).map(({ status }) => status)).toEqual(["rejected", "rejected"])
  isBroken = false
  expect(await ingest.run({ pond: broken, signal }, { events: events("c", "hello") })).toMatchObject({
    results: [{ session_id: "c", status: "stored" }],
  })
})
