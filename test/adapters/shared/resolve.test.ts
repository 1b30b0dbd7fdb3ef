import { afterAll, expect, test } from "bun:test"
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SourceFile, SourceForm, SourceUnit } from "../../../src/adapters/adapter.ts"
import { isAsRead, isPrefixOf, type LogPosition } from "../../../src/adapters/shared/log-window.ts"
import { type Batch, type ResolveOptions, resolve } from "../../../src/adapters/shared/resolve.ts"
import { sourceFile } from "../../source-file.ts"

const scratch = mkdtempSync(join(tmpdir(), "pond-resolve-"))
afterAll(() => rmSync(scratch, { recursive: true }))

let count = 0
function fileOf(content: string | Uint8Array, form: SourceForm = "log", suffix = ".jsonl"): SourceFile {
  const place = `${count++}${suffix}`
  writeFileSync(join(scratch, place), content)
  return sourceFile(place, { path: join(scratch, place), form, sizeBytes: content.length })
}

function unitOf(...files: SourceFile[]): SourceUnit {
  return { key: files[0]?.relativePath ?? "", root: scratch, files }
}

async function batchesOf(unit: SourceUnit, options?: ResolveOptions): Promise<Batch[]> {
  const batches: Batch[] = []
  for await (const batch of resolve({}, unit, options)) batches.push(batch)
  return batches
}

/** Each record as its line and its content: bytes in brackets. */
async function recordsOf(unit: SourceUnit, options?: ResolveOptions): Promise<string[]> {
  return (await batchesOf(unit, options)).flatMap(({ records }) =>
    records.map((raw) => {
      if (raw.form === "bytes") return `${raw.line} [${Buffer.from(raw.bytes).toString("hex")}]`
      return raw.form === "row" ? `${raw.line} ${raw.table}` : `${raw.line} ${raw.text}`
    }),
  )
}

async function check(content: string | Uint8Array, want: string[], form?: SourceForm): Promise<void> {
  expect(await recordsOf(unitOf(fileOf(content, form)))).toEqual(want)
}

async function endOf(file: SourceFile, options?: ResolveOptions): Promise<LogPosition> {
  const position = (await batchesOf(unitOf(file), options)).at(-1)?.position
  if (position === undefined) throw new Error("the log has no position")
  return position
}

function onFrom(file: SourceFile, position: LogPosition): ResolveOptions {
  return { from: new Map([[file.relativePath, position]]) }
}

test("each line of a log is a record, blank ones too", () => check('{"a":1}\n\n{}\n', ['1 {"a":1}', "2 ", "3 {}"]))
test("a last line needs no line feed", () => check("a\nb", ["1 a", "2 b"]))
test("carriage returns before a line feed belong to the line feed", () => check("a\r\nb\r\n\r\n", ["1 a", "2 b", "3 "]))
test("a carriage return elsewhere is a character, but at the end, where a restore adds a line feed", () =>
  check("a\rb\nc\r", ["1 a\rb", "2 c"]))
test("a byte order mark is no part of the first line", () => check("\uFEFF{}\n\uFEFF{}\n", ["1 {}", "2 \uFEFF{}"]))
test("an empty log has no records", () => check("", []))
test("a line that is no UTF-8 is bytes, and its neighbours are not", () =>
  check(Buffer.from("61 0a ff fe 0a ed a0 80 0d 0a 62 0a".replaceAll(" ", ""), "hex"), [
    "1 a",
    "2 [fffe]",
    "3 [eda080]",
    "4 b",
  ]))
test("a line of nothing but zeros, as a crash leaves it, is a line", () => check("a\n\0\0\0\n", ["1 a", "2 \0\0\0"]))
test("a document is one record without its byte order mark", () => check("\uFEFF{\n}\n", ["1 {\n}\n"], "document"))
test("a text is one record as it lies", () => check("\uFEFFa\r\nb", ["1 \uFEFFa\r\nb"], "text"))
test("a text that is no UTF-8 is bytes", () => check(Buffer.from([0xff]), ["1 [ff]"], "text"))
test("bytes stay bytes", () => check("a\n", ["1 [610a]"], "bytes"))

test("a log that was compressed reads like the log", async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `${index} ${"x".repeat(index % 300)} 日本`)
  const file = fileOf(Bun.zstdCompressSync(`${lines.join("\n")}\n`), "log", ".jsonl.zst")
  expect(await recordsOf(unitOf(file))).toEqual(lines.map((line, index) => `${index + 1} ${line}`))
})

test("half of a compressed log is an issue, and other files go on", async () => {
  const whole = Bun.zstdCompressSync("a\n".repeat(1000))
  const batches = await batchesOf(
    unitOf(fileOf(whole.subarray(0, whole.length - 5), "log", ".jsonl.zst"), fileOf("b\n")),
  )
  expect(batches.flatMap(({ issues }) => issues.map(({ kind }) => kind))).toEqual(["broken_compression"])
  expect(batches.at(-1)?.records).toMatchObject([{ text: "b" }])
})

test("a file that is not there is an issue, and other files go on", async () => {
  const gone = { ...fileOf(""), path: join(scratch, "gone") }
  const batches = await batchesOf(unitOf(gone, fileOf("b\n")))
  expect(batches.map(({ issues }) => issues)).toEqual([
    [{ kind: "missing_file", severity: "fault", file: gone.relativePath, found: "ENOENT" }],
    [],
  ])
})

test("batches cut a log anywhere, and never inside a line", async () => {
  const lines = Array.from({ length: 9_000 }, (_, index) => `${index}${"ü".repeat(index % 700)}`)
  const batches = await batchesOf(unitOf(fileOf(lines.join("\n"))))
  expect(batches.length).toBeGreaterThan(3)
  expect(batches.flatMap(({ records }) => records.map((raw) => ("text" in raw ? raw.text : "")))).toEqual(lines)
})

test("a line of 100 MB is read, in memory of a few times its size", async () => {
  const script = `
    const { resolve } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/adapters/shared/resolve.ts"))})
    const { ownPeakMb } = await import(${JSON.stringify(join(import.meta.dir, "../../support/memory.ts"))})
    const file = { path: process.argv[1], relativePath: "long.jsonl", form: "log", sizeBytes: Bun.file(process.argv[1]).size }
    const lengths = []
    for await (const { records } of resolve({}, { files: [file] })) for (const { text } of records) lengths.push(text.length)
    console.log(JSON.stringify({ lengths, peakMb: ownPeakMb() }))`
  const file = fileOf(`a\n${"x".repeat(100_000_000)}\nb\n`)
  const child = Bun.spawnSync([process.execPath, "-e", script, file.path])
  const { lengths, peakMb } = JSON.parse(String(child.stdout))
  expect(lengths).toEqual([1, 100_000_000, 1])
  expect(peakMb).toBeLessThan(600)
})

test("a grown log goes on where it ended", async () => {
  const file = fileOf("a\nb\n")
  const end = await endOf(file)
  expect(end).toMatchObject({ offset: 4, line: 2 })
  appendFileSync(file.path, "c\nd\n")
  expect(await isPrefixOf(file, end)).toBe(true)
  expect(await recordsOf(unitOf(file), onFrom(file, end))).toEqual(["3 c", "4 d"])
})

test("a log that did not grow has nothing more, and its place stays the same", async () => {
  const file = fileOf("a\nb\n")
  const end = await endOf(file)
  expect(await batchesOf(unitOf(file), onFrom(file, end))).toEqual([])
})

test("reading on in steps marks the same places as reading at once", async () => {
  const file = fileOf("")
  let end: LogPosition | undefined
  for (let step = 0; step < 40; step++) {
    appendFileSync(file.path, `${step}${"y".repeat(step * 17)}\n`)
    end = await endOf(file, end === undefined ? {} : onFrom(file, end))
    expect(end).toEqual(await endOf(file))
    expect(await isPrefixOf(file, end)).toBe(true)
  }
  expect(end?.offset).toBeGreaterThan(8_192)
})

test("however a log is read on, its sum is that of all its bytes, and no other log has it", async () => {
  const text = Array.from({ length: 400 }, (_, number) => `${number}${"z".repeat((number * 37) % 2_000)}\n`)
  const ends = [1, 3, 60, 61, 150, 151, 152, 399, 400]
  const file = fileOf("")
  let end: LogPosition | undefined
  for (const [index, upTo] of ends.entries()) {
    appendFileSync(file.path, text.slice(ends[index - 1] ?? 0, upTo).join(""))
    end = await endOf(file, end === undefined ? {} : onFrom(file, end))
    expect(end).toEqual(await endOf(file))
  }
  const content = text.join("")
  if (end === undefined) throw new Error("nothing was read")
  for (const at of [0, 5_000, 65_535, 65_536, 200_000, content.length - 2]) {
    const other = `${content.slice(0, at)}!${content.slice(at + 1)}`
    expect(await isAsRead(fileOf(other), end)).toBe(false)
  }
  expect(await isAsRead(fileOf(content.slice(0, -1)), end)).toBe(false)
  expect(await isAsRead(fileOf(content), end)).toBe(true)
  const { sum: _sum, ...unknown } = end
  expect(await isAsRead(fileOf(content), unknown)).toBe(false)
})

test("a log whose beginning, end or length changed is no longer the log that was read", async () => {
  const content = `${"head ".repeat(2000)}\n${"tail ".repeat(2000)}\n`
  const changed = [`Head${content.slice(4)}`, `${content.slice(0, -3)}!!\n`, content.slice(0, -1), ""]
  const end = await endOf(fileOf(content))
  for (const other of changed) expect(await isPrefixOf(fileOf(other), end)).toBe(false)
  expect(await isPrefixOf(fileOf(`${content}more\n`), end)).toBe(true)
})

test("a log that grew is not the one that was read where a byte of it changed, or of a very long one its last block", async () => {
  const content = Array.from({ length: 1_000 }, (_, number) => `${"z".repeat(50)}${number}\n`).join("")
  const [long, veryLong] = [100_000, 65_536 * 80 - 1_000].map((bytes) => `${"a".repeat(bytes)}\n${content}`) as [
    string,
    string,
  ]
  for (const [before, fromEnd] of [
    [content, 30_000],
    [long, 30_000],
    [long, 100_000],
    [veryLong, 30_000],
  ] as const) {
    const end = await endOf(fileOf(before))
    const at = before.length - fromEnd
    expect(await isPrefixOf(fileOf(`${before.slice(0, at)}!${before.slice(at + 1)}more\n`), end)).toBe(false)
    expect(await isPrefixOf(fileOf(`${before}more\n`), end)).toBe(true)
  }
})

test("a line in the writing is left for the next time", async () => {
  const file = fileOf('{"a":1}\n{"b"')
  const end = await endOf(file, { unendedLine: "leave" })
  expect(end).toMatchObject({ offset: 8, line: 1 })
  appendFileSync(file.path, ":2}\n")
  expect(await recordsOf(unitOf(file), onFrom(file, end))).toEqual(['2 {"b":2}'])
})

test("a line that was taken without its line feed is not read twice", async () => {
  const file = fileOf("a\nb")
  const end = await endOf(file)
  expect(end).toMatchObject({ offset: 2, line: 1, open: { bytes: 1 } })
  for (const more of ["", "\n", "\r\n", "\nc\n"]) {
    const grown = fileOf(`a\nb${more}`)
    expect(await isPrefixOf(grown, end)).toBe(true)
    expect(await recordsOf(unitOf(grown), onFrom(grown, end))).toEqual(more.includes("c") ? ["3 c"] : [])
  }
  expect(await isPrefixOf(fileOf("a\nbc\n"), end)).toBe(false)
})

test("what lies beside the files of a unit comes after them", async () => {
  const index = fileOf('{"id":"other"}\n{"id":"own"}\n', "log", "-index.jsonl")
  const beside = [{ form: "log", file: index, line: 2, text: '{"id":"own"}' }] as const
  expect(await recordsOf({ ...unitOf(fileOf("first\n")), beside })).toEqual(["1 first", '2 {"id":"own"}'])
})
