/**
 * Decodes export files by `src/archive/FORMAT.md` alone: its tables are read out of the page and drive a reader that uses
 * the libraries which the page names, and nothing of pond. Only the sessions to be exported are made with pond.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { tableFromIPC } from "apache-arrow"
import { said, session } from "../sessions/support.ts"
import { exported, fill, imported, logsOf, type Place, place } from "./support.ts"

const ROOT = join(import.meta.dir, "../..")
const PAGE = readFileSync(join(ROOT, "src/archive/FORMAT.md"), "utf8")
/** Written by pond 0.1.0. */
const OLD_FILE = join(ROOT, "fixtures/archive/0.1.0.pond")

// --- The page --------------------------------------------------------------------------------------------------------

/** The rows of the first table below a heading, cell by cell, without marks of code. */
function tableBelow(heading: string): string[][] {
  const from = PAGE.indexOf(`${heading}`)
  expect(from, `the heading ${heading}`).toBeGreaterThanOrEqual(0)
  const lines = PAGE.slice(from).split("\n")
  const first = lines.findIndex((line) => line.startsWith("|"))
  const rows = lines.slice(first)
  return rows
    .slice(
      2,
      rows.findIndex((line) => !line.startsWith("|")),
    )
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", "")),
    )
}

const HEADER = tableBelow("## 1. The tar").map(([offset, bytes, field, value]) => ({
  offset: Number(offset),
  bytes: Number(bytes),
  field,
  value: value ?? "",
}))
const MANIFEST_FIELDS = tableBelow("## 3. The manifest").map(([field]) => field)
const LABEL_FIELDS = tableBelow("Each of the `labels`").map(([field]) => field)
const FORMAT_VERSION = Number(/^\d+/.exec(tableBelow("## 3. The manifest")[1]?.[1] ?? "")?.[0])

function columnsOf(table: string): readonly string[] {
  const [heading = ""] = /^### \w+/m.exec(PAGE.slice(PAGE.indexOf(`### ${table.replace(/_\d+$/, "")},`))) ?? []
  const dimension = /\d+$/.exec(table)?.[0] ?? ""
  return tableBelow(heading).map(([name, type = "", isNull]) => {
    return `${name} ${type.replace("dimension", dimension)} ${isNull === "yes"}`
  })
}

function schemaVersionOf(table: string): number {
  return Number(new RegExp(`^### ${table.replace(/_\d+$/, "")}, schema version (\\d+)$`, "m").exec(PAGE)?.[1])
}

// --- The reader ------------------------------------------------------------------------------------------------------

interface Row {
  readonly [column: string]: unknown
}

interface Decoded {
  readonly manifest: { readonly [field: string]: unknown }
  readonly names: readonly string[]
  readonly tables: ReadonlyMap<string, readonly Row[]>
}

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0)
}

/** What a field of a tar header must be, where the page gives it to the byte; nothing where it differs from entry to entry. */
function fixedContent(value: string, bytes: number): Buffer | undefined {
  if (value === "zero bytes") return Buffer.alloc(bytes)
  const literal = /^(\w+)(, a plain file| and a zero byte)?$/.exec(value)
  if (literal === null) return undefined
  return Buffer.concat([Buffer.from(literal[1] ?? "")], bytes)
}

function readTar(file: Buffer): { readonly name: string; readonly content: Buffer }[] {
  const entries: { name: string; content: Buffer }[] = []
  let at = 0
  while (!isZero(file.subarray(at, at + 512))) {
    const block = file.subarray(at, at + 512)
    const fields = new Map<string, Buffer>()
    for (const { offset, bytes, field, value } of HEADER) {
      const found = block.subarray(offset, offset + bytes)
      fields.set(field ?? "", found)
      const fixed = fixedContent(value, bytes)
      if (fixed !== undefined) expect(found.equals(fixed), `${field} at ${at}`).toBe(true)
    }
    const octal = (field: string) => Number.parseInt(fields.get(field)?.toString("ascii") ?? "", 8)
    const sum = Buffer.from(block)
      .fill(" ", 148, 156)
      .reduce((total, byte) => total + byte, 0)
    expect(octal("checksum")).toBe(sum)
    const name = fields.get("name")?.toString("ascii").replace(/\0+$/, "") ?? ""
    const size = octal("size")
    entries.push({ name, content: file.subarray(at + 512, at + 512 + size) })
    const end = at + 512 + Math.ceil(size / 512) * 512
    expect(isZero(file.subarray(at + 512 + size, end))).toBe(true)
    at = end
  }
  expect(file.length).toBe(at + 1024)
  expect(isZero(file.subarray(at))).toBe(true)
  return entries
}

function decode(path: string): Decoded {
  const entries = readTar(readFileSync(path))
  const [sum, last] = [entries.pop(), entries.pop()]
  expect([last?.name, sum?.name]).toEqual(["manifest.json", "manifest.sha256"])
  expect(sum?.content.toString()).toBe(`${sha256(last?.content ?? Buffer.of())}  manifest.json\n`)
  const manifest = JSON.parse(last?.content.toString() ?? "")
  expect(MANIFEST_FIELDS.filter((field = "") => field in manifest || field !== "labels")).toEqual(
    Object.keys(manifest) as string[],
  )
  expect([manifest.format, manifest.format_version]).toEqual(["pond archive", FORMAT_VERSION])
  expect(manifest.entries.map(({ name }: { name: string }) => name)).toEqual(entries.map(({ name }) => name))
  const tables = new Map<string, Row[]>()
  for (const { name, schema_version: version } of manifest.tables) {
    tables.set(name, [])
    expect(version).toBe(schemaVersionOf(name))
  }
  for (const [index, { name, content }] of entries.entries()) {
    const listed = manifest.entries[index]
    const raw = Bun.zstdDecompressSync(content)
    expect([content.length, sha256(content), raw.length]).toEqual([listed.bytes, listed.sha256, listed.raw_bytes])
    const table = name.split("/")[0] ?? ""
    const arrow = tableFromIPC(raw)
    expect(arrow.schema.metadata.get("pond:schema_version")).toBe(String(schemaVersionOf(table)))
    expect(arrow.schema.fields.map((field) => `${field.name} ${field.type} ${field.nullable}`)).toEqual([
      ...columnsOf(table),
    ])
    const rows = arrow.toArray().map((row: { toJSON(): Row }) => row.toJSON())
    expect(rows.length).toBe(listed.rows)
    tables.get(table)?.push(...rows)
  }
  for (const { name, rows } of manifest.tables) expect(tables.get(name)).toHaveLength(rows)
  return { manifest, names: entries.map(({ name }) => name), tables }
}

/** Section 5: halves of surrogate pairs. */
function codeUnits(stored: string): string {
  let text = ""
  for (let at = 0; at < stored.length; at++) {
    if (stored.codePointAt(at) !== 0x10fffe) {
      text += stored[at]
      continue
    }
    const next = stored.codePointAt(at + 2) ?? 0
    text += next === 0x10fffe ? "\u{10FFFE}" : String.fromCharCode(next - 0x800)
    at += next === 0x10fffe ? 3 : 2
  }
  return text
}

/** Section 5: texts that lie in a blob, or only look as if they did. */
function textOf({ tables }: Decoded, column: unknown): string {
  const text = codeUnits(String(column))
  if (text.startsWith("pond://text/")) return text.slice("pond://text/".length)
  if (!text.startsWith("pond://blob/")) return text
  const bytes = blobOf(tables, text.slice("pond://blob/".length))
  return Buffer.from(bytes.subarray(1)).toString(bytes[0] === 1 ? "utf16le" : "utf8")
}

function blobOf(tables: Decoded["tables"], digest: string): Uint8Array {
  const row = tables.get("blobs")?.find((each) => each["sha256"] === digest)
  if (row === undefined) throw new Error(`there is no blob ${digest}`)
  const { data, uri } = row["bytes"] as { readonly data: Uint8Array; readonly uri: string | null }
  expect(uri).toBeNull()
  const bytes = data.length === Number(row["size"]) ? data : zstdFrames(data)
  expect([bytes.length, sha256(bytes)]).toEqual([Number(row["size"]), digest])
  return bytes
}

function zstdFrames(bytes: Uint8Array): Uint8Array {
  return require("node:zlib").zstdDecompressSync(bytes)
}

// --- Files -----------------------------------------------------------------------------------------------------------

const ODD_TEXTS: readonly string[] = [
  "half of a pair \ud83d, and its other half \ude00 later",
  "the mark itself \u{10FFFE} and \u{10FFFE}\ue000",
  "pond://blob/is-no-reference",
  "pond://text/",
  "long ".repeat(1_000_000),
  `\ud800${"long and half ".repeat(400_000)}`,
]

let here: Place
let written: string

beforeAll(async () => {
  here = place()
  const source = here.open("source")
  await fill(source, here.file("state"))
  const entries = ODD_TEXTS.map((text, at) => said("odd", at, text))
  await source.labels.add("attached", [
    { field: "note", value: "half a pair \ud83d", isSet: true },
    { field: "star", value: "", isSet: true },
  ])
  await source.write([{ session: session("odd"), entries }])
  written = here.file("all.pond")
  await exported(source, written)
})
afterAll(() => here[Symbol.dispose]())

describe("an export file, decoded by what FORMAT.md says", () => {
  test("has a header of which the page names every byte", () => {
    const ends = HEADER.map(({ offset, bytes }) => offset + bytes)
    expect(HEADER.map(({ offset }) => offset)).toEqual([0, ...ends.slice(0, -1)])
    expect(ends.at(-1)).toBe(512)
  })

  test("has the entries, the columns and the checksums of the page", () => {
    const { manifest, names, tables } = decode(written)
    expect(manifest["whole"]).toBe(true)
    expect([...tables.keys()]).toEqual(["sessions", "messages", "parts", "embeddings_4", "blobs"])
    expect(names).toContain("parts/000000.arrow.zst")
    for (const [, rows] of tables) expect(rows.length).toBeGreaterThan(0)
  })

  test("gives every text as it was said, in order, whatever it holds", () => {
    const decoded = decode(written)
    const parts = decoded.tables.get("parts")?.filter((row) => row["session_id"] === "odd") ?? []
    const inOrder = parts.toSorted((one, other) => Number(one["message_ordinal"]) - Number(other["message_ordinal"]))
    const texts = inOrder.map((row) => textOf(decoded, row["text"]))
    expect(texts.map((text, at) => text === ODD_TEXTS[at])).toEqual(ODD_TEXTS.map(() => true))
  })

  test("gives the bytes of every attachment, and a vector of each embedded message", () => {
    const { tables } = decode(written)
    const files = (tables.get("parts") ?? []).filter((row) => row["type"] === "file")
    const variants = files.map((row) => JSON.parse(String(row["variant_data"])))
    const blobs = variants.filter(({ data }) => data === "blob").map(({ blob }) => blobOf(tables, blob.slice(12)))
    expect(blobs.map((bytes) => Buffer.from(bytes).toString())).toContain("bytes of its own")
    const vectors =
      tables.get("embeddings_4")?.map(({ vector }) => Array.from(vector as Iterable<number>, Number)) ?? []
    expect(vectors.toSorted(([one = 0], [other = 0]) => one - other).slice(0, 2)).toEqual([
      [0, 0.5, -1, 2],
      [1, 0.5, -1, 2],
    ])
  })

  test("has the labels of the page in its manifest", () => {
    const labels = decode(written).manifest["labels"] as readonly Row[]
    for (const label of labels) expect(Object.keys(label)).toEqual(LABEL_FIELDS as string[])
    expect(labels.map(({ session_id, field, value, is_set }) => [session_id, field, value, is_set])).toEqual([
      ["attached", "note", "half a pair \ud83d", true],
      ["attached", "star", "", true],
    ])
    expect(Number(labels[0]?.["noted_at"]) / 1000).toBeWithin(Date.now() - 600_000, Date.now() + 60_000)
  })

  test("refers to nothing that is not in it", () => {
    const { tables } = decode(written)
    const sessions = new Set(tables.get("sessions")?.map((row) => row["id"]))
    const messages = new Set(tables.get("messages")?.map((row) => `${row["session_id"]} ${row["id"]}`))
    for (const row of tables.get("messages") ?? []) expect(sessions.has(row["session_id"])).toBe(true)
    for (const row of tables.get("parts") ?? []) {
      expect(messages.has(`${row["session_id"]} ${row["message_id"]}`)).toBe(true)
    }
  })
})

describe("an export file of pond 0.1.0", () => {
  test("has the form of the page", () => {
    const { manifest, tables } = decode(OLD_FILE)
    expect(manifest["pond_version"]).toBe("0.1.0")
    expect([...tables].map(([name, rows]) => [name, rows.length])).toEqual([
      ["sessions", 5],
      ["messages", 131],
      ["parts", 36],
      ["blobs", 1],
    ])
  })

  test("is imported whole, and every session is read from the store", async () => {
    const target = here.open("old")
    const { inserted } = await imported(target, OLD_FILE)
    expect(inserted).toEqual({ sessions: 5, messages: 131, parts: 36, embeddings: 0, blobs: 1 })
    const logs = await logsOf(target)
    expect(logs.map(({ entries }) => entries.length).reduce((sum, count) => sum + count, 0)).toBe(131)
  })
})
