/**
 * The seam that cannot invent values, held by the compiler: each wrong snippet does not compile, for the reason that is
 * meant, and each right one does. What a type cannot forbid (a cast, saying without reason that a value was read) is
 * looked for in the sources.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const ROOT = join(import.meta.dir, "../..")
const ADAPTERS = join(ROOT, "src/adapters")

const PREAMBLE = `
import type { JsonObject, JsonValue } from "${ROOT}/src/model/json.ts"
import type { ParseSink, RawRecord, SourceFile } from "${ADAPTERS}/adapter.ts"
import { booleanAt, jsonAt, nameOf, nonEmptyStringAt, type Placed, plain, Sealed, sealedModifiedAt, sealedRelativePath, sourceText, stringAt, stringUnder, timestampAt, valueAt } from "${ADAPTERS}/extract.ts"
import { composed, type SourceObject, type SourceValue } from "${ADAPTERS}/source-value.ts"
import { inside, whole } from "${ADAPTERS}/spot.ts"
import { type PartDraft, textPart, toolCallPart, toolResultPart } from "${ADAPTERS}/parts.ts"
import { createSessionWriter, type MessageDraft, type SessionStart } from "${ADAPTERS}/session-writer.ts"
declare const record: SourceValue
declare const anyJson: JsonValue
declare const raw: RawRecord
declare const file: SourceFile
declare const sink: ParseSink
const writer = createSessionWriter(file, sink)
const text = stringAt(record, "text")
const name = nonEmptyStringAt(record, "name")
const id = nonEmptyStringAt(record, "id")
const params = jsonAt(record, "input")
const createdAt = timestampAt(record, "at")
if (text === undefined || name === undefined || id === undefined || params === undefined || createdAt === undefined)
  throw new Error()
`

/** What is wrong, the code of the compiler for it, and the line that says it. */
const WRONG: readonly (readonly [what: string, code: string, line: string])[] = [
  ["a literal for a text", "TS2322", `textPart({ provenance: "conversational", text: "hello" })`],
  ["a literal for an id", "TS2322", `writer.begin({ id: "s1", sourceAgent: name, project: name, createdAt })`],
  [
    "a default for a project",
    "TS2322",
    `writer.begin({ id, sourceAgent: name, project: nonEmptyStringAt(record, "cwd") ?? "unknown", createdAt })`,
  ],
  [
    "a value that may be missing",
    "TS2322",
    `writer.begin({ id, sourceAgent: name, project: stringAt(record, "cwd"), createdAt })`,
  ],
  [
    "a moment of our own",
    "TS2322",
    `writer.begin({ id, sourceAgent: name, project: name, createdAt: new Date(0).toISOString() })`,
  ],
  [
    "a failure mark of our own",
    "TS2322",
    `toolResultPart({ provenance: "injected", callId: id, result: params, isFailure: true })`,
  ],
  ["a name of our own", "TS2322", `toolCallPart({ provenance: "conversational", callId: id, name: "bash", params })`],
  ["parameters of our own", "TS2322", `toolCallPart({ provenance: "conversational", callId: id, name, params: {} })`],
  [
    "a sealed value unsealed and changed",
    "TS2322",
    `textPart({ provenance: "conversational", text: text.value.trim() })`,
  ],
  ["a name unsealed and changed", "TS2322", `writer.carrier(raw, record, { id: plain(id).trim() })`],
  ["an id used as a text that can be taken out", "TS2322", `textPart({ provenance: "conversational", text: id })`],
  ["a sealed value made by hand", "TS2673", `new Sealed("hello", undefined)`],
  [
    "a look-alike of a sealed value",
    "TS2322",
    `textPart({ provenance: "conversational", text: { value: "hello", holder: undefined, key: "", form: "value" } })`,
  ],
  ["a cast to a sealed value", "TS2352", `writer.carrier(raw, record, { id: "hello" as Sealed<string> })`],
  [
    "a cast to a sealed value with a place",
    "TS2352",
    `textPart({ provenance: "conversational", text: "hello" as Placed<string> })`,
  ],
  ["a part without provenance", "TS2345", `textPart({ text })`],
  [
    "a provenance that may be missing",
    "TS2322",
    `textPart({ provenance: Math.random() > 0.5 ? "injected" : undefined, text })`,
  ],
  ["a provenance that is none", "TS2322", `textPart({ provenance: "unknown", text })`],
  [
    "a part written down by hand",
    "TS2322",
    `const part: PartDraft<"text"> = { type: "text", provenance: "injected", text: "x" }; void part`,
  ],
  ["a message id of our own", "TS2322", `writer.carrier(raw, record, { id: "m1" })`],
  [
    "a result in a message of a person",
    "TS2322",
    `const draft: MessageDraft = { role: "user", parts: [toolResultPart({ provenance: "injected", callId: id, result: params })] }; void draft`,
  ],
  [
    "parts in a message of the system",
    "TS2353",
    `const draft: MessageDraft = { role: "system", parts: [] }; void draft`,
  ],
  ["a message without its parts", "TS2322", `const draft: MessageDraft = { role: "assistant" }; void draft`],
  ["a literal read as a record", "TS2345", `stringAt("unknown")`],
  ["a literal read as an id", "TS2345", `nonEmptyStringAt("unknown")`],
  ["a record of our own", "TS2345", `stringAt({ text: "x" }, "text")`],
  ["a record that a text was put into", "TS2345", `jsonAt({ text: String(raw.line) }, "text")`],
  ["a list of our own", "TS2322", `stringAt(["x"], 0)`],
  ["an empty record of our own", "TS2345", `jsonAt({})`],
  ["a flag of our own", "TS2345", `booleanAt(true)`],
  ["a number read as a moment", "TS2345", `timestampAt(0)`],
  ["a literal read as a moment", "TS2345", `timestampAt("2026-01-01T00:00:00.000Z")`],
  ["a name of a record of our own", "TS2345", `nameOf({ name: "bash" }, "name")`],
  ["a record of our own as a spot", "TS2345", `stringUnder(whole({ text: "x" }), "text")`],
  ["a spot of our own", "TS2322", `stringUnder({ value: "x", above: undefined, key: "" }, "text")`],
  ["a path of our own", "TS2740", `sealedRelativePath({ relativePath: "x" })`],
  ["a time of our own", "TS2740", `sealedModifiedAt({ modifiedMs: 0 })`],
  [
    "a file of our own",
    "TS2741",
    `sealedRelativePath({ path: "/x", relativePath: "x", form: "log", sizeBytes: 1, modifiedMs: 0, inode: 0 })`,
  ],
  ["a literal widened to JSON", "TS2345", `const own: JsonValue = "unknown"; stringAt(own)`],
  ["a record of our own widened to JSON", "TS2345", `const own: JsonValue = { text: "x" }; stringAt(own, "text")`],
  ["an object of our own widened to JSON", "TS2345", `const own: JsonObject = { text: "x" }; stringAt(own, "text")`],
  ["a literal taken for JSON", "TS2345", `stringAt("x" as JsonValue)`],
  ["JSON of any origin", "TS2345", `stringAt(anyJson, "text")`],
  ["what was found in JSON of any origin", "TS2345", `stringAt(valueAt(anyJson, "a") ?? null, "text")`],
  [
    "a record with a text of our own put into it",
    "TS2345",
    `stringAt({ ...(record as SourceObject), text: "x" }, "text")`,
  ],
  ["a text of a record, changed", "TS2345", `stringAt(text.value.trim())`],
  ["a record put together from our own words", "TS2322", `composed({ text: "x" })`],
  [
    "an item of a list of our own",
    "TS2345",
    `const own: JsonValue = ["x"]; if (Array.isArray(own)) stringAt(own[0] ?? null)`,
  ],
  ["an item of a list, changed", "TS2345", `if (Array.isArray(record)) stringAt(String(record[0]))`],
  ["a text of our own as a value of a record", "TS2345", `sourceText("x")`],
  [
    "a part made of a literal that was read",
    "TS2345",
    `const own = stringAt("unknown"); if (own) textPart({ provenance: "conversational", text: own })`,
  ],
]

const RIGHT: readonly (readonly [what: string, line: string])[] = [
  ["an object inside a record", `if (typeof record === "object" && record !== null) stringAt(record, "text")`],
  ["what was found inside a record", `stringAt(valueAt(record, "message") ?? null, "text")`],
  ["an item of a list", `if (Array.isArray(record)) for (const item of record) stringAt(item, "text")`],
  ["a spot inside a record", `const spot = inside(whole(record), "message"); if (spot) stringUnder(spot, "text")`],
  ["a record put together from what was read", `stringAt(composed({ info: record, parts: [record] }), "info", "text")`],
  ["the path of a file in a record", `composed({ info: record, place: sourceText(sealedRelativePath(file)) })`],
  ["the path of a file", `writer.begin({ id, sourceAgent: name, project: sealedRelativePath(file), createdAt })`],
  ["a value as it was read", `textPart({ provenance: "conversational", text })`],
  [
    "the first of several places",
    `writer.begin({ id, sourceAgent: name, project: nonEmptyStringAt(record, "cwd") ?? name, createdAt })`,
  ],
  [
    "a flag that may be missing",
    `toolResultPart({ provenance: "injected", callId: id, result: params, isFailure: booleanAt(record, "failed") })`,
  ],
  ["a carrier without an id", `writer.carrier(raw, record)`],
  [
    "a message with its parts",
    `writer.record(raw, record, [{ role: "user", parts: [textPart({ provenance: "injected", text })] }])`,
  ],
  [
    "a session with what it has",
    `const start: SessionStart = { id, sourceAgent: name, project: name, createdAt, title: text }; writer.begin(start)`,
  ],
]

const folder = mkdtempSync(join(tmpdir(), "pond-seam-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** What the compiler says of each file. */
let said: ReadonlyMap<string, string>

beforeAll(() => {
  const options = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: { types: [], noUnusedLocals: false },
    include: ["*.ts"],
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options))
  for (const [index, [, , line]] of WRONG.entries())
    writeFileSync(join(folder, `wrong-${index}.ts`), `${PREAMBLE}${line}\n`)
  for (const [index, [, line]] of RIGHT.entries())
    writeFileSync(join(folder, `right-${index}.ts`), `${PREAMBLE}${line}\n`)
  const compiler = Bun.spawnSync([join(ROOT, "node_modules/.bin/tsc"), "--noEmit", "--pretty", "false", "-p", folder])
  const found = new Map<string, string>()
  for (const line of String(compiler.stdout).split("\n")) {
    const [, name, code] = /^(?:.*\/)?((?:wrong|right)-\d+)\.ts\(\d+,\d+\): error (TS\d+):/.exec(line) ?? []
    if (name !== undefined && code !== undefined) found.set(name, `${found.get(name) ?? ""}${code} `)
  }
  said = found
}, 60_000)

for (const [index, [what, code]] of WRONG.entries())
  test(`${what} does not compile`, () => expect(said.get(`wrong-${index}`)?.trim()).toMatch(new RegExp(`^${code}$`)))

for (const [index, [what]] of RIGHT.entries())
  test(`${what} compiles`, () => expect(said.get(`right-${index}`)).toBeUndefined())

/** What the compiler cannot forbid in the code of an adapter, and what to do instead. */
const FORBIDDEN: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [
    /\b(?:as|satisfies)\s+(?:unknown\s+as\s+)?(?:Sealed|Placed|PartDraft|MessageDraft|SourceFile)\b/,
    "values are sealed by extract.ts, parts made by parts.ts",
  ],
  [/\bas\s+(?:unknown\s+as\s+)?(?:readonly\s+)?Source(?:Value|Object|List)\b/, "read it from a record"],
  [/\bas\s+any\b|\bas\s+never\b/, "mend the type"],
  [/\bsink\s*\.\s*(?:session|entry)\s*\(/, "hand the record to the session writer"],
  // The compiler takes a value of a source for an object, which is never falsy: an empty text would become the time.
  [/\b(?:record|document|row|item) && \w+(?:Of|Under|At|In)\(/, "ask whether it is undefined"],
  [/\bnew\s+Sealed\b|\bSealed\.prototype\b/, "values are sealed by extract.ts"],
]

/** The code of clients that may say of a value that it was read: from a database, or from a record that is stored. */
const READS_ITSELF = new Set([
  "codex/context.ts",
  "opencode/database.ts",
  "opencode/live-session.ts",
  "opencode/render-messages.ts",
  "pi/openclaw-source.ts",
])
const READ = /\b(?:fromSource|fromDisk|JSON\.parse)\(/

test("the code of an adapter goes around the seam nowhere", () => {
  const wrong: string[] = []
  const sources = readdirSync(ADAPTERS, { recursive: true, encoding: "utf8" }).filter((name) =>
    /^[^/]+\/.*\.ts$/.test(name),
  )
  expect(sources.length).toBeGreaterThan(10)
  for (const name of sources) {
    const source = readFileSync(join(ADAPTERS, name), "utf8")
    for (const [pattern, instead] of FORBIDDEN) {
      const found = pattern.exec(source)
      if (found !== null) wrong.push(`${name}: ${found[0]}: ${instead}`)
    }
    const read = READS_ITSELF.has(name) || name.startsWith("shared/") ? undefined : READ.exec(source)?.[0]
    if (read !== undefined) wrong.push(`${name}: ${read}: what was read comes from readJson or shared/`)
  }
  expect(wrong).toEqual([])
})
