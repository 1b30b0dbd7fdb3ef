import { expect, test } from "bun:test"
import fc from "fast-check"
import { differingPointer, type JsonValue, parseJson } from "../../src/model/json.ts"
import type { Entry, Part, SessionLog } from "../../src/model/session.ts"
import { unpackBlobs } from "../../src/sessions/rows/blob-packing.ts"
import { createBlobSink } from "../../src/sessions/rows/oversized.ts"
import {
  messageOfRow,
  messageRow,
  partOfRow,
  partRows,
  sessionOfRow,
  sessionRow,
} from "../../src/sessions/rows/row-codecs.ts"
import { SEED } from "../support/seed.ts"
import { anyJson, anyLog, anyText } from "./arbitrary.ts"
import { MOMENT, said, session, testSessions } from "./support.ts"

/** Model to row to Lance to row to model, value for value: nothing lost, nothing invented. */
const again = { seed: SEED, verbose: 1 } as const

function difference(want: unknown, got: unknown): string | undefined {
  return differingPointer(want as JsonValue, got as JsonValue)
}

test(`any session comes back from its rows as it was (POND_SEED=${SEED})`, () => {
  const facts = { ingestedAtMicros: 0n, host: "test" }
  fc.assert(
    fc.property(anyLog, ({ session: whole, entries }) => {
      const blobs = createBlobSink()
      const sessionFacts = { ...facts, sourceAgent: whole.source_agent, project: whole.project }
      const stored = sessionRow(whole, facts, blobs)
      const rows = entries.map((entry) => {
        const message = messageRow(entry, { ...sessionFacts, lane: "main" }, blobs)
        return { message, parts: partRows(entry, message, blobs) }
      })
      const bytes = unpackBlobs(blobs.take())
      const back = {
        session: sessionOfRow(stored, bytes),
        entries: rows.map((row) => ({
          message: messageOfRow(row.message, bytes),
          parts: row.parts.map((part) => partOfRow(part, bytes)),
        })),
      }
      expect(difference({ session: whole, entries }, back)).toBeUndefined()
    }),
    { ...again, numRuns: 400 },
  )
})

test(`any sessions come back from the store as they were (POND_SEED=${SEED})`, async () => {
  using place = testSessions()
  const logs = fc.sample(anyLog, { seed: SEED, numRuns: 120 })
  const distinct = [...new Map(logs.map((log) => [log.session.id, log])).values()]
  const results = await place.sessions.write(distinct)
  expect(results.map(({ status }) => status)).toEqual(distinct.map(() => "stored"))
  const reader = place.open()
  for (const log of distinct) expect(difference(log, unmarked(await reader.log(log.session.id)))).toBeUndefined()
  expect(distinct.flatMap(({ entries }) => entries).length).toBeGreaterThan(100)
})

test("JSON is parsed by value: equal to itself after being written, whatever it holds", () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const parsed = parseJson(JSON.stringify(value))
      expect(parsed.ok && difference(value, parsed.value)).toBeUndefined()
    }),
    { ...again, numRuns: 500 },
  )
})

test.each([
  ["a number beyond a double", '{"id":12345678901234567890123}'],
  ["a cost with more digits than a double has", '{"cost":0.12345678901234567890123}'],
  ["a number beyond every exponent", '{"big":1e400,"small":-1.5E-400}'],
  ["a key named __proto__", '{"__proto__":{"x":1},"a":{"__proto__":null}}'],
  ["half an emoji", '{"text":"\\ud83d","other":"\\ude00"}'],
  ["NUL", '{"text":"\\u0000a\\u0000"}'],
  // In the row it lies deeper still, in what pond keeps around it.
  ["the deepest nesting of lists", `${"[".repeat(1_999)}1${"]".repeat(1_999)}`],
  ["the deepest nesting of objects", `${'{"a":'.repeat(1_999)}"end"${"}".repeat(1_999)}`],
])("%s survives the store", async (_, text) => {
  using place = testSessions()
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(parsed.reason)
  const entry = said("s", 0, "hello")
  const log = {
    session: session("s"),
    entries: [{ ...entry, message: { ...entry.message, options: { source: { record: parsed.value } } } }],
  }
  await place.sessions.write([log as SessionLog])
  const [stored] = await place.open().entries("s")
  const source = stored?.message.options["source"] as { record: JsonValue }
  expect(difference(parsed.value, source.record)).toBeUndefined()
  expect(JSON.stringify(source.record)).toBe(JSON.stringify(parsed.value))
})

test("a number that a double cannot hold is not equal to the double that is near it", () => {
  const [exact, near] = [parseJson("12345678901234567891"), parseJson("12345678901234567892")]
  expect(exact.ok && near.ok && difference(exact.value, near.value)).toBe("")
  const [spelled, plain] = [parseJson("1.50e1"), parseJson("15")]
  expect(spelled.ok && plain.ok && difference(spelled.value, plain.value)).toBeUndefined()
})

test("nesting that JSON cannot write again is refused in words, never thrown", () => {
  const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`
  expect(parseJson(deep(1_999)).ok).toBe(true)
  expect(parseJson(deep(100_000))).toEqual({ ok: false, reason: "nested more than 2000 levels deep" })
})

test("every plane of Unicode, and every unit that is none, comes back as text, as id and as project", async () => {
  using place = testSessions()
  const planes = Array.from({ length: 17 }, (_, plane) =>
    String.fromCodePoint(plane * 0x10000 + 0x41, plane * 0x10000 + 0xfffd),
  )
  const halves = ["\ud800", "\udbff", "\udc00", "\udfff", "\udc00\ud800", "a\ud800b"]
  const texts = [...planes, ...halves, ...fc.sample(anyText, { seed: SEED, numRuns: 60 })].filter(
    (text) => text.trim() !== "",
  )
  const logs = [...new Set(texts)].map((text) => ({
    session: session(text, { project: text, source_agent: text }),
    entries: [said(text, 0, text, { id: text })],
  }))
  await place.sessions.write(logs)
  const reader = place.open()
  for (const { session: whole, entries } of logs) {
    expect(difference(whole, await reader.session(whole.id))).toBeUndefined()
    expect(difference(entries, unmarked(await reader.log(whole.id)).entries)).toBeUndefined()
  }
})

test("an empty string stays apart from an absent one", async () => {
  using place = testSessions()
  const file = (id: string, name: object) =>
    ({
      id,
      session_id: "s",
      message_id: "m0",
      provenance: "injected",
      options: {},
      type: "file",
      media_type: "",
      data: { url: "" },
      ...name,
    }) as Part
  const entry = { ...said("s", 0, ""), parts: [file("a", { file_name: "" }), file("b", {})] } as Entry
  await place.sessions.write([{ session: session("s", { title: "" }), entries: [entry] }])
  const log = await place.open().log("s")
  expect(log.session.title).toBe("")
  expect(log.entries[0]?.parts.map((part) => "file_name" in part)).toEqual([true, false])
})

test("a value of 100 MB goes through the blobs and comes back whole", async () => {
  using place = testSessions()
  const huge = `${"0123456789abcdef".repeat(6_250_000)}\ud83d`
  const call = { ...said("s", 1, "x", { role: "assistant" }), parts: [] }
  const result = {
    id: "r",
    session_id: "s",
    message_id: "m1",
    provenance: "injected",
    options: {},
    type: "tool_call",
    call_id: "c",
    name: "Bash",
    params: { out: huge.slice(0, 5_000_000) },
    provider_executed: false,
  }
  await place.sessions.write([
    { session: session("s"), entries: [said("s", 0, huge), { ...call, parts: [result] } as Entry] },
  ])
  const [text, tool] = await place.open().entries("s")
  const [part] = text?.parts ?? []
  expect(part?.type === "text" && part.text === huge).toBe(true)
  const [params] = tool?.parts ?? []
  expect(params?.type === "tool_call" && (params.params as { out: string }).out === huge.slice(0, 5_000_000)).toBe(true)
  expect(await place.sessions.tables.blobs.count()).toBeGreaterThanOrEqual(2)
}, 60_000)

test("the same attachment is stored once, whoever holds it", async () => {
  using place = testSessions()
  const base64 = Buffer.from("the same picture").toString("base64")
  const image = (sessionId: string) =>
    ({
      ...said(sessionId, 0, ""),
      parts: [
        {
          id: "i",
          session_id: sessionId,
          message_id: "m0",
          provenance: "conversational",
          options: {},
          type: "file",
          media_type: "image/png",
          data: { base64 },
        },
      ],
    }) as Entry
  await place.sessions.write([{ session: session("a"), entries: [image("a")] }])
  await place.sessions.write([{ session: session("b"), entries: [image("b")] }])
  expect(await place.sessions.tables.blobs.count()).toBe(1)
  expect((await place.open().entries("b"))[0]?.parts[0]).toMatchObject({ data: { base64 } })
})

test("moments keep their microseconds", async () => {
  using place = testSessions()
  await place.sessions.write([
    { session: session("s", { created_at: "2026-01-31T12:00:00.123456Z" }), entries: [said("s", 0, "x")] },
  ])
  const log = await place.open().log("s")
  expect(log.session.created_at).toBe("2026-01-31T12:00:00.123456Z")
  expect(log.entries[0]?.message.timestamp).toBe(MOMENT)
})

/** What pond adds of its own: that a random message is a copy of another is no difference. */
function unmarked(log: SessionLog): SessionLog {
  const entries = log.entries.map((entry) => {
    const pond = entry.message.options["pond"] as { replay_of?: unknown } | undefined
    if (typeof pond !== "object" || pond === null || !("replay_of" in pond)) return entry
    const { replay_of: _, ...rest } = pond
    const { pond: __, ...options } = entry.message.options
    return {
      ...entry,
      message: { ...entry.message, options: Object.keys(rest).length > 0 ? { ...options, pond: rest } : options },
    } as Entry
  })
  return { ...log, entries }
}
