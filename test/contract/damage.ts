/**
 * Damage to input, as crashes, two writers, wrong tools and future versions do it, from a seed: the same seed gives the
 * same damage. Bytes are damaged as bytes; a row of a database is damaged as the JSON that it is.
 */
import type { RawRecord, SourceFile } from "../../src/adapters/adapter.ts"
import { recordsOf } from "../../src/adapters/shared/resolve.ts"
import { fromSource } from "../../src/adapters/source-value.ts"
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../../src/model/json.ts"
import type { Random } from "../../src/platform/host/random.ts"

/** A few of these at once. */
const WOUNDS_MAX = 3

export function damaged(records: readonly RawRecord[], random: Random): RawRecord[] {
  const byFile = new Map<SourceFile, RawRecord[]>()
  for (const raw of records) byFile.set(raw.file, [...(byFile.get(raw.file) ?? []), raw])
  return [...byFile].flatMap(([file, own]) => damagedFile(file, own, random))
}

function damagedFile(file: SourceFile, records: readonly RawRecord[], random: Random): RawRecord[] {
  const wounds = 1 + Math.floor(random.next() * WOUNDS_MAX)
  if (records.some(({ form }) => form === "row")) {
    let rows = [...records]
    for (let wound = 0; wound < wounds; wound++) rows = woundedRows(rows, random)
    return rows
  }
  let bytes: Buffer = Buffer.concat(
    records.flatMap((raw) => [contentOf(raw), ...(file.form === "log" ? [LINE_FEED] : [])]),
  )
  for (let wound = 0; wound < wounds; wound++) bytes = pick(WOUNDS, random)(bytes, random)
  if (file.form === "log") return recordsOf(file, bytes, 0)
  const text = bytes.toString("utf8")
  const isText = Buffer.from(text).equals(bytes) && (file.form === "document" || file.form === "text")
  return [isText ? { form: file.form as "text", file, line: 1, text } : { form: "bytes", file, line: 1, bytes }]
}

const LINE_FEED = Buffer.from("\n")

function contentOf(raw: RawRecord): Buffer {
  if (raw.form === "row") return Buffer.from(stringifyJson(raw.row))
  return raw.form === "bytes" ? Buffer.from(raw.bytes) : Buffer.from(raw.text)
}

// --- Wounds of bytes --------------------------------------------------------------------------------------------------

type Wound = (bytes: Buffer, random: Random) => Buffer

const WOUNDS: readonly Wound[] = [
  // A crash cuts what was being written.
  (bytes, random) => bytes.subarray(0, below(bytes.length + 1, random)),
  // The beginning is gone: a log was rotated.
  (bytes, random) => bytes.subarray(below(bytes.length + 1, random)),
  // A hole in the middle, as an unclean file system leaves it.
  (bytes, random) => overwritten(bytes, random, Buffer.alloc(1 + below(64, random))),
  // Single bytes that flipped.
  (bytes, random) => overwritten(bytes, random, Buffer.from([below(256, random)])),
  // Two bytes that changed places.
  (bytes, random) => {
    const copy = Buffer.from(bytes)
    const [i, j] = [below(bytes.length, random), below(bytes.length, random)]
    ;[copy[i], copy[j]] = [bytes[j] ?? 0, bytes[i] ?? 0]
    return copy
  },
  // Two writers: records glued together, or one inside another.
  (bytes, random) => inserted(bytes, random, lineOf(bytes, random)),
  (bytes, random) => withLines(bytes, (lines) => glued(lines, random)),
  (bytes, random) => withLines(bytes, (lines) => swapped(lines, random)),
  (bytes, random) => withLines(bytes, (lines) => lines.filter(() => random.next() < 0.9)),
  (bytes, random) => withLines(bytes, (lines) => [...lines, ...lines.filter(() => random.next() < 0.2)]),
  (bytes, random) => withLines(bytes, (lines) => lines.flatMap((line) => (random.next() < 0.1 ? [line, ""] : [line]))),
  // The wrong tool: other line ends, another encoding, a mark.
  (bytes) => Buffer.from(bytes.toString("latin1").replaceAll("\n", "\r\n"), "latin1"),
  (bytes) => Buffer.from(bytes.toString("utf8").slice(0, 20_000), "utf16le"),
  (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
  (bytes, random) => inserted(bytes, random, Buffer.from([0xff, 0xc0, 0xaf, 0xed, 0xa0, 0x80])),
  // A tool that removes secrets wrote one word over ids.
  (bytes, random) =>
    withLines(bytes, (lines) => lines.map((line) => changedLine(line, (value) => redacted(value, random)))),
  // A version that nobody has seen: JSON, but other JSON.
  ...Array.from({ length: 8 }, (): Wound => (bytes, random) => withLines(bytes, (lines) => editedLine(lines, random))),
]

function below(count: number, random: Random): number {
  return Math.floor(random.next() * count)
}

function pick<T>(from: readonly T[], random: Random): T {
  return from[below(from.length, random)] as T
}

function overwritten(bytes: Buffer, random: Random, by: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  if (copy.length > by.length) by.copy(copy, below(copy.length - by.length, random))
  return copy
}

function inserted(bytes: Buffer, random: Random, what: Buffer): Buffer {
  const at = below(bytes.length + 1, random)
  return Buffer.concat([bytes.subarray(0, at), what, bytes.subarray(at)])
}

function lineOf(bytes: Buffer, random: Random): Buffer {
  const lines = bytes.toString("latin1").split("\n")
  return Buffer.from(pick(lines, random), "latin1")
}

/** Latin-1 keeps every byte what it is. */
function withLines(bytes: Buffer, change: (lines: string[]) => string[]): Buffer {
  return Buffer.from(change(bytes.toString("latin1").split("\n")).join("\n"), "latin1")
}

function glued(lines: readonly string[], random: Random): string[] {
  const at = below(lines.length, random)
  return [...lines.slice(0, at), `${lines[at] ?? ""}${lines[at + 1] ?? ""}`, ...lines.slice(at + 2)]
}

function swapped(lines: readonly string[], random: Random): string[] {
  const copy = [...lines]
  const [i, j] = [below(lines.length, random), below(lines.length, random)]
  ;[copy[i], copy[j]] = [lines[j] ?? "", lines[i] ?? ""]
  return copy
}

function editedLine(lines: readonly string[], random: Random): string[] {
  const at = below(lines.length, random)
  return lines.map((line, index) => (index === at ? changedLine(line, (value) => editedJson(value, random)) : line))
}

function changedLine(line: string, change: (value: JsonValue) => JsonValue): string {
  const parsed = parseJson(Buffer.from(line, "latin1").toString("utf8"))
  return parsed.ok ? Buffer.from(stringifyJson(change(parsed.value))).toString("latin1") : line
}

// --- Wounds of values -------------------------------------------------------------------------------------------------

function woundedRows(rows: readonly RawRecord[], random: Random): RawRecord[] {
  const at = below(rows.length, random)
  const choice = random.next()
  if (choice < 0.1) return rows.filter((_, index) => index !== at)
  if (choice < 0.2) return [...rows].sort(() => random.next() - 0.5)
  if (choice < 0.3)
    return rows.map((raw) => (raw.form === "row" ? { ...raw, row: fromSource(redacted(raw.row, random)) } : raw))
  return rows.map((raw, index) =>
    index === at && raw.form === "row" ? { ...raw, row: fromSource(editedJson(raw.row, random)) } : raw,
  )
}

const STRANGE: readonly JsonValue[] = [
  ...[null, true, false, 0, -1, 1e308, 2 ** 53, "", " ", "\ud83d", "\u2028", "__proto__", "../../etc", "2026-13-99"],
  ...[[], {}, [[]], [null], { type: "text" }, { type: 1 }, ["text"], "<system-reminder>x</system-reminder>"],
  JSON.parse('{"__proto__":{"a":1},"constructor":null}') as JsonValue,
  "x".repeat(5_000),
]

/** Half of the ids of messages, parts and calls become the same word. Sessions keep theirs. */
function redacted(value: JsonValue, random: Random): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => redacted(item, random))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]): [string, JsonValue] => {
      const isId = typeof inner === "string" && ID_KEY.test(key) && random.next() < 0.5
      return [key, isId ? "REDACTED" : redacted(inner, random)]
    }),
  )
}

const ID_KEY = /^(?:id|uuid|callID|call_id|toolCallId|tool_use_id|messageID|message_id)$/

/** One value somewhere inside becomes another one, goes away, or gets a neighbour. */
function editedJson(value: JsonValue, random: Random): JsonValue {
  const isLeaf = typeof value !== "object" || value === null
  if (isLeaf || random.next() < 0.15) return strange(value, random)
  if (Array.isArray(value)) {
    const items = [...(value as readonly JsonValue[])]
    const at = below(items.length, random)
    const choice = random.next()
    if (items.length === 0 || choice < 0.15) items.splice(at, 0, strange(null, random))
    else if (choice < 0.3) items.splice(at, 1)
    else if (choice < 0.4) items.push(items[at] as JsonValue)
    else items[at] = editedJson(items[at] as JsonValue, random)
    return items
  }
  const entries = Object.entries(value) as [string, JsonValue][]
  const at = below(entries.length, random)
  const choice = random.next()
  if (entries.length === 0 || choice < 0.1)
    entries.push([pick(["type", "id", "new", "__proto__", ""], random), strange(null, random)])
  else if (choice < 0.2) entries.splice(at, 1)
  else entries[at] = [entries[at]?.[0] ?? "", editedJson(entries[at]?.[1] ?? null, random)]
  return Object.fromEntries(entries)
}

function strange(value: JsonValue, random: Random): JsonValue {
  const choice = random.next()
  if (choice < 0.1) return nested(value, 1 + below(40, random))
  if (choice < 0.15 && typeof value === "string") return value.slice(0, below(value.length + 1, random))
  return pick(STRANGE, random)
}

function nested(value: JsonValue, levels: number): JsonValue {
  let inner = value
  for (let level = 0; level < levels; level++) inner = level % 2 === 0 ? [inner] : { content: inner }
  return inner
}
