import { expect, test } from "bun:test"
import { join } from "node:path"
import type { Adapter } from "../../src/adapters/adapter.ts"
import { codex } from "../../src/adapters/codex/adapter.ts"
import { pi } from "../../src/adapters/pi/adapter.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { differences, type Mismatch } from "../../src/restore/compare.ts"
import { nativeFiles } from "../../src/restore/output-files.ts"
import { type Passage, verify } from "../../src/restore/verify.ts"
import { heldPassage, storePassage } from "../../src/restore/verify-passage.ts"
import { logsOf } from "../contract/fixtures.ts"
import { memorySessions } from "../sessions/support.ts"
import { HEADER, rootOf, scratch, USER, verified, withLines, writing } from "./verify-support.ts"

const WRONG: readonly (readonly [what: string, adapter: Adapter, mismatches: readonly Partial<Mismatch>[]])[] = [
  [
    "a value that changed",
    withLines((lines) => lines.map((line) => line.replace("Fix the", "Break the"))),
    [
      {
        ...{ file: "a.jsonl", record: 2, pointer: "/message/content/0/text" },
        ...{ expected: '"Fix the build."', got: '"Break the build."' },
      },
    ],
  ],
  [
    "a key that is gone",
    withLines((lines) => lines.map((line) => line.replace(',"parentId":null', ""))),
    [{ record: 2, pointer: "/parentId", expected: "null", got: null }],
  ],
  [
    "a key that nobody wrote",
    withLines((lines) => lines.map((line) => line.replace('"cwd"', '"new":1,"cwd"'))),
    [{ record: 1, pointer: "/new", expected: null, got: "1" }],
  ],
  ["a record that is gone", withLines((lines) => lines.slice(0, 1)), [{ record: 2, pointer: "", got: null }]],
  ["records in another order", withLines((lines) => lines.toReversed()), [{ record: 1 }, { record: 2 }]],
  ["a record twice", withLines((lines) => [...lines, "{}"]), [{ record: 3, pointer: "", expected: null, got: "{}" }]],
  [
    "a file that is gone",
    writing(() => []),
    [
      { record: 1, got: null },
      { record: 2, got: null },
    ],
  ],
  [
    "a file too many",
    writing((files) => [...files, { form: "text", relativePath: "b.txt", text: "b" }]),
    [{ file: "b.txt", record: 1, expected: null, got: "b" }],
  ],
]

for (const [what, adapter, mismatches] of WRONG) {
  test(`${what} is a mismatch, with file, record and pointer`, async () => {
    const report = await verified(rootOf({ "a.jsonl": [HEADER, USER] }), adapter)
    expect(report.mismatches).toMatchObject(mismatches as Mismatch[])
    expect(report.mismatches).toHaveLength(mismatches.length)
    expect(report.mismatches.every(({ session }) => session === "s1")).toBe(true)
  })
}

const EQUAL: readonly (readonly [what: string, lines: string])[] = [
  ["white space", ` { "type" : "session", "id":"s1", "cwd":"/work", "timestamp":"2026-03-01T10:00:00Z" } \r\n`],
  ["the spelling of a number", `${JSON.stringify(HEADER)}\n{"type":"custom","data":1.0,"more":1e2}\n`],
  ["a number that no double holds", `${JSON.stringify(HEADER)}\n{"type":"custom","data":12345678901234567890}\n`],
  ["half a surrogate pair", `${JSON.stringify(HEADER)}\n{"type":"custom","data":"\\ud83d"}\n`],
  ["the key __proto__", `${JSON.stringify(HEADER)}\n{"type":"custom","data":{"__proto__":{"a":1}}}\n`],
]

for (const [what, lines] of EQUAL) {
  test(`${what} is no mismatch`, async () => {
    const report = await verified(rootOf({ "a.jsonl": lines }))
    expect(report).toMatchObject({ sessions: 1, mismatches: [] })
    expect(report.records).toBe(lines.trimEnd().split("\n").length)
  })
}

test("broken input is an issue, and comes back all the same", async () => {
  const report = await verified(rootOf({ "a.jsonl": `${JSON.stringify(HEADER)}\n{"half": \n\n{}{}\n` }))
  expect(report).toMatchObject({ sessions: 1, records: 4, mismatches: [] })
  expect(report.issues.map(({ kind, count: times }) => [kind, times])).toEqual([
    ["unparsable_line", 2],
    ["blank_line", 1],
  ])
})

test("records that belong to no session are a fault", async () => {
  const report = await verified(rootOf({ "a.jsonl": '{"type":"message"}\n' }))
  expect(report).toMatchObject({ sessions: 0, records: 0, mismatches: [] })
  expect(report.issues).toMatchObject([{ kind: "unknown_record" }, { kind: "no_session", severity: "fault" }])
})

test("what is not understood is named and counted", async () => {
  const report = await verified(rootOf({ "a.jsonl": [HEADER, { type: "new_thing" }, { type: "new_thing" }] }))
  expect(report.unknown_records).toEqual([{ found: "new_thing", count: 2 }])
})

test("only the session that was asked for is verified", async () => {
  const root = rootOf({ "a.jsonl": [HEADER, USER], "b.jsonl": [{ ...HEADER, id: "s2" }] })
  expect(await verified(root, pi, { sessionId: "s2" })).toMatchObject({ sessions: 1, files: 1, records: 1 })
  expect(await verified(root, pi, { sessionId: "s3" })).toMatchObject({ sessions: 0, mismatches: [] })
})

test("progress ends at the bytes that were planned", async () => {
  const root = rootOf({ "a.jsonl": [HEADER, USER], "b.jsonl": [{ ...HEADER, id: "s2" }] })
  const planned: number[] = []
  const done: number[] = []
  const context = {
    clock: systemClock,
    signal: new AbortController().signal,
    onPlan: (_: unknown, bytes: number) => planned.push(bytes),
    onProgress: (bytes: number) => done.push(bytes),
  }
  await verify({ sources: [{ adapter: pi, root }] }, context)
  expect(planned).toHaveLength(1)
  expect(done.at(-1)).toBe(planned[0] ?? -1)
  expect(done).toEqual(done.toSorted((left, right) => left - right))
})

test("an interrupted verification stops between units", async () => {
  const root = rootOf({ "a.jsonl": [HEADER], "b.jsonl": [{ ...HEADER, id: "s2" }] })
  const stop = new AbortController()
  const context = { clock: systemClock, signal: stop.signal, onProgress: () => stop.abort() }
  expect(await verify({ sources: [{ adapter: pi, root }] }, context)).toMatchObject([{ sessions: 1 }])
})

// --- Passages ---------------------------------------------------------------------------------------------------------

test("what a passage changes is a mismatch, and what it does not give back as well", async () => {
  const root = rootOf({ "a.jsonl": [HEADER, USER], "b.jsonl": [{ ...HEADER, id: "s2" }] })
  const openPassage = (): Promise<Passage> =>
    Promise.resolve({
      pass: (rests) =>
        Promise.resolve(
          rests.map(({ log }) => (log.session.id === "s1" ? { ...log, entries: log.entries.slice(0, 1) } : undefined)),
        ),
      stretch: () => Promise.resolve(undefined),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    })
  expect((await verified(root, pi, { openPassage })).mismatches).toMatchObject([
    { session: "s1", record: 2, got: null },
    { session: "s2", record: 1, got: null },
  ])
})

test("copies of one session each get a passage that has not seen it", async () => {
  const copy = [HEADER, USER]
  const root = rootOf({ "a.jsonl": copy, "b.jsonl": copy, "c.jsonl": [{ ...HEADER, id: "s2" }], "d.jsonl": copy })
  const passed: string[][] = []
  let closed = 0
  const openPassage = (): Promise<Passage> => {
    const ids: string[] = []
    passed.push(ids)
    return Promise.resolve({
      pass(rests) {
        ids.push(...rests.map(({ log }) => log.session.id))
        return Promise.resolve(rests.map(({ log }) => log))
      },
      stretch: (log) => Promise.resolve(log),
      [Symbol.asyncDispose]() {
        closed++
        return Promise.resolve()
      },
    })
  }
  expect(await verified(root, pi, { openPassage })).toMatchObject({ sessions: 4, mismatches: [] })
  expect(passed).toEqual([["s1", "s2"], ["s1"], ["s1"]])
  expect(closed).toBe(3)
})

// --- What a restore would do --------------------------------------------------------------------------------------------

test("what comes back record by record and cannot be restored is a mismatch of its session alone", async () => {
  const root = rootOf({
    "--work--/2026-03-01T10-00-00-000Z_s1.jsonl": [HEADER, USER],
    "--work--/2026-03-01T10-00-00-000Z_s2.jsonl": [{ ...HEADER, id: "s2" }, USER],
  })
  // Its client would not find the second one where a restore puts it.
  const blind: Adapter = {
    ...pi,
    source: {
      ...pi.source,
      plan: async function* (at) {
        for await (const found of pi.source.plan(at))
          if (at === root || !("key" in found && /s2/.test(found.key))) yield found
      },
    },
  }
  const draftFolder = join(scratch, "drafts")
  expect((await verified(root, blind)).mismatches).toEqual([])
  const { mismatches } = await verified(root, blind, { draftFolder })
  expect(mismatches).toMatchObject([{ session: "s2", got: "the session s2 is not found in what was written" }])
  expect((await verified(root, pi, { draftFolder })).mismatches).toEqual([])
})

test("a log that ends in a bare carriage return verifies and restores", async () => {
  const text = [HEADER, USER].map((line) => JSON.stringify(line)).join("\r")
  const name = "--work--/2026-03-01T10-00-00-000Z_s1.jsonl"
  const { mismatches, issues } = await verified(rootOf({ [name]: `${text}\r` }), pi, {
    draftFolder: join(scratch, "cr"),
  })
  expect(mismatches).toEqual([])
  expect(issues.map(({ kind }) => kind)).toContain("unparsable_line")
})

test("a session of an id or place that its client does not give is told: a restore refuses it", async () => {
  const root = rootOf({ "other/s1.jsonl": [{ ...HEADER, id: "odd id" }, USER] })
  const { mismatches, issues } = await verified(root, pi, { draftFolder: join(scratch, "odd") })
  expect(mismatches).toEqual([])
  expect(issues).toMatchObject([{ kind: "unusual_id", severity: "note", count: 1 }])
})

test("a key that stands twice in an object is told, and its line comes back as it is", async () => {
  const line = JSON.stringify(USER).replace("{", '{"a":1,"a":2,')
  const root = rootOf({ "--work--/2026-03-01T10-00-00-000Z_s1.jsonl": `${JSON.stringify(HEADER)}\n${line}\n` })
  const { mismatches, issues } = await verified(root, pi)
  expect({ mismatches, issues }).toMatchObject({ mismatches: [], issues: [{ kind: "repeated_key", count: 1 }] })
  const [log] = (await logsOf(pi, root)).values()
  const [file] = log === undefined ? [] : nativeFiles(pi, log)
  expect(file?.form === "log" && [...file.lines]).toContain(line)
})

test("a log whose name its client does not give is told where somebody named the directory", async () => {
  const root = rootOf({ "full.jsonl": [HEADER, USER], "history.jsonl": [USER] })
  const context = { clock: systemClock, signal: new AbortController().signal }
  for (const [isChosen, kinds] of [
    [undefined, []],
    [true, ["unread_name"]],
  ] as const) {
    const [report] = await verify({ sources: [{ adapter: codex, root, isChosen }] }, context)
    expect(report?.issues.map(({ kind }) => kind)).toEqual([...kinds])
  }
})

// --- What a store holds -------------------------------------------------------------------------------------------------

test("a store that holds more of a session than a source, or the session under another folder, lacks nothing of it", async () => {
  using place = memorySessions()
  const store = () =>
    Promise.resolve(storePassage({ ...place.sessions, close: () => undefined }, () => Promise.resolve()))
  const openPassage = () => Promise.resolve(heldPassage(place.sessions))
  const later = (id: string) => ({ ...USER, id, parentId: "m1" })
  await verified(rootOf({ "a.jsonl": [HEADER, USER, later("here"), later("there")] }), pi, { openPassage: store })
  const second = [HEADER, USER, later("there")]
  const moved = second.map((line) => ("cwd" in line ? { ...line, cwd: "/elsewhere/work" } : line))
  for (const root of [rootOf({ "a.jsonl": second }), rootOf({ "--elsewhere-work--/b.jsonl": moved })]) {
    const { mismatches, missing, sessions } = await verified(root, pi, { openPassage })
    expect({ mismatches, missing, sessions }).toEqual({ mismatches: [], missing: [], sessions: 1 })
  }
  // A record that it lacks is told, and so is one of two equal ones.
  const more = rootOf({ "a.jsonl": [...second, later("nowhere"), later("there")] })
  expect((await verified(more, pi, { openPassage })).mismatches.map(({ record }) => record)).toEqual([4, 5])
})

test("an empty file that a client needs beside what was stored says nothing that the source does not say", () => {
  const beside = (text: string) => differences("s", [], [{ form: "text", relativePath: "journal/1.jsonl", text }])
  expect(beside("")).toEqual([])
  expect(beside("{}")).toMatchObject([{ file: "journal/1.jsonl", record: 1, expected: null }])
})
