/** A native restore of a long session is made of stretches of it, and says what the whole says. */
import { expect, test } from "bun:test"
import type { Adapter, OutputFile, OutputLine } from "../../src/adapters/adapter.ts"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { entriesByRecord, lastRecordAt } from "../../src/adapters/shared/native.ts"
import type { Entry, SessionLog } from "../../src/model/session.ts"
import { createLineShelf } from "../../src/platform/files/long-lines.ts"
import { createOutputFiles, nativeFiles, outputOptionsOf } from "../../src/restore/output-files.ts"
import { bodiesOf, writeNative } from "../../src/restore/write-native.ts"
import { fixturesOf, logsOf } from "../contract/fixtures.ts"
import { tempFolder } from "../support/temp-folder.ts"
import { storedLog } from "./support.ts"

function joined(files: readonly OutputFile[]): Map<string, OutputLine[] | OutputFile> {
  const byPlace = new Map<string, OutputLine[] | OutputFile>()
  for (const file of files) {
    const before = byPlace.get(file.relativePath)
    if (file.form !== "log") byPlace.set(file.relativePath, file)
    else byPlace.set(file.relativePath, [...(Array.isArray(before) ? before : []), ...file.lines])
  }
  return byPlace
}

/** Once the entries of the session at once, and once those of each record by themselves. */
function writtenIn(adapter: Adapter, log: SessionLog, pieces: readonly (readonly Entry[])[]): unknown {
  const output = createOutputFiles(outputOptionsOf(adapter))
  const serializer = adapter.serialize.native(log.session, output)
  const lineage = adapter.lineage?.open(log.session)
  for (const piece of pieces) {
    serializer.push(piece)
    lineage?.push(piece)
  }
  return { end: serializer.end(), needs: lineage?.needs(), files: joined(output.files()) }
}

test.each(ADAPTERS.map((adapter) => [adapter.id, adapter] as const))(
  "the records of %s, each by itself, give what the session gives",
  async (_, adapter) => {
    let records = 0
    for (const { root } of fixturesOf(adapter)) {
      for (const log of (await logsOf(adapter, root)).values()) {
        const pieces: (readonly Entry[])[] = []
        for (let rest = log.entries; rest.length > 0; ) {
          const [first] = entriesByRecord({ ...log, entries: rest })
          const piece = rest.slice(0, first?.entries.length)
          rest = rest.slice(piece.length)
          expect(lastRecordAt([...piece, ...rest.slice(0, 1)])).toBe(rest.length === 0 ? 0 : piece.length)
          pieces.push(piece)
          records++
        }
        expect(writtenIn(adapter, log, pieces)).toEqual(writtenIn(adapter, log, [log.entries]))
      }
    }
    // Where no client could be run its fixtures were written by hand, and are few; of every other one there are hundreds.
    expect(records).toBeGreaterThan(adapter.judged.by === "client" ? 50 : 10)
  },
)

const SESSION: SessionLog["session"] = {
  ...{ id: "s", source_agent: "claude-code", created_at: "2026-05-01T00:00:00.000Z", project: "/garden" },
  options: { source: { file: "projects/-garden/s.jsonl" } },
}

function entry(ordinal: number, options: Entry["message"]["options"]): Entry {
  const message = { id: `m${ordinal}`, session_id: "s", ordinal, timestamp: SESSION.created_at, options }
  return { message: { ...message, role: "system", content: "" }, parts: [] }
}

/** Every third record became two messages, and some were revised much later, one of them twice. */
function longLog(records: number): SessionLog {
  const entries: Entry[] = []
  for (let number = 0; number < records; number++) {
    const first = entries.length
    entries.push(entry(first, { source: { record: { number } } }))
    if (number % 3 === 0) entries.push(entry(first + 1, { source: { of: `m${first}` } }))
  }
  for (const [number, of] of [3, 100, 3].entries())
    entries.push(entry(entries.length, { source: { record: { newer: number } }, pond: { revision_of: `m${of}` } }))
  return { session: SESSION, entries }
}

test.each([1, 100, 5_000, 100_000])(
  "read %d messages at once, a long session is written as it is whole",
  async (atOnce) => {
    using place = tempFolder()
    using shelf = createLineShelf({ path: `${place.path}/lines`, heldUnits: 10_000 })
    const log = longLog(12_000)
    const [whole] = nativeFiles(claudeCode, log)
    const written = await writeNative(storedLog(log, atOnce), claudeCode, shelf.newLines)
    expect(joined(written.files)).toEqual(joined(whole === undefined ? [] : [whole]))
    expect(written.files.map(({ relativePath: at }) => at)).toEqual([whole?.relativePath ?? ""])
    // What was revised reads back as the newer one.
    expect(written.bodies.has("m3")).toBe(false)
    expect(written.bodies.size).toBe(log.entries.length - 2)
  },
)

test("what the parts of a message say is told apart to the last sign, and not by the order of keys", () => {
  const part = { id: "p", session_id: "s", message_id: "m", provenance: "injected", type: "tool_result" }
  const result = (value: unknown, more: object = {}) =>
    bodiesOf([{ ...part, call_id: "c", is_failure: false, result: value, options: {}, ...more }] as never)
  const long = "x".repeat(1_000)
  const all = [
    ...["", "a", "b", long, `${long}y`, `y${long}`, "\ud83d", "\ud83e", `${long}\ud83d`, `${long}\ud83e`],
    ...[null, 1, "1", [1, 2], [12], { a: 1 }, { a: "1" }, { a: { b: 1 } }, { a: [{ b: 1 }] }],
  ].map((value) => result(value))
  expect(new Set(all).size).toBe(all.length)
  expect(result("a", { is_failure: true })).not.toBe(result("a"))
  expect(result({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(result({ b: [{ d: 3, c: 2 }], a: 1 }))
  expect(result("a", { options: { source: { lift: { result: "/x" } } } })).toBe(result("a"))
})
