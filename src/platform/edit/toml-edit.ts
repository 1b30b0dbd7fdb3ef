/**
 * Changes one key of a TOML text and leaves every other byte as it is: comments, order, spelling. Pure text to text. The
 * result is read back by the parser and compared with what was asked for, so that an edit that would change more is refused.
 */

import { parseToml, type TomlTable } from "../config/toml.ts"
import { type ConfigValue, isTable, NotEditable } from "./editable.ts"

/** A line, or several where its value spans them, that says something. */
export interface Statement {
  readonly kind: "header" | "pair"
  /** From the root of the document. */
  readonly path: readonly string[]
  /** From the beginning of its first line to behind the end of its last. */
  readonly start: number
  readonly end: number
  readonly valueStart: number
  readonly valueEnd: number
}

/** Tables merge: keys that the value does not have stay. */
export function setInToml(text: string, path: readonly string[], value: ConfigValue): string {
  const before = parsed(text)
  const wanted = structuredClone(before)
  const edited = isTable(value) ? withTable(text, path, value, wanted) : withPair(text, path, value, wanted)
  return proven(edited, wanted)
}

/** Removes a key, or a table with all that is below it. */
export function removeFromToml(text: string, path: readonly string[]): string {
  const wanted = structuredClone(parsed(text))
  if (valueAt(wanted, path) === undefined) return text
  const above = valueAt(wanted, path.slice(0, -1))
  if (isTable(above)) delete (above as TomlTable)[path.at(-1) ?? ""]
  const statements = scan(text)
  let edited = text
  for (const { statement, index } of statements.map((each, at) => ({ statement: each, index: at })).toReversed()) {
    if (!startsWith(statement.path, path)) continue
    const isFirstOfTable = statement.kind === "header"
    const from =
      isFirstOfTable && isLastOfText(text, statements, index, path)
        ? blankBefore(text, statement.start)
        : statement.start
    edited = edited.slice(0, from) + edited.slice(statement.end)
  }
  return proven(edited, withoutEmpty(edited, wanted, path))
}

export function valueInToml(text: string, path: readonly string[]): ConfigValue | undefined {
  return valueAt(parsed(text), path) as ConfigValue | undefined
}

// --- Writing ------------------------------------------------------------------------------------------------------

function withTable(
  text: string,
  path: readonly string[],
  table: { readonly [key: string]: ConfigValue },
  wanted: TomlTable,
): string {
  if (valueAt(wanted, path) !== undefined) {
    let edited = text
    for (const [key, value] of Object.entries(table)) {
      edited = isTable(value)
        ? withTable(edited, [...path, key], value, wanted)
        : withPair(edited, [...path, key], value, wanted)
    }
    return edited
  }
  const eol = lineEndOf(text)
  const pairs = Object.entries(table).map(([key, value]) => {
    assign(wanted, [...path, key], value)
    return `${keyText(key)} = ${tomlValue(value)}${eol}`
  })
  return `${endedText(text, eol)}[${path.map(keyText).join(".")}]${eol}${pairs.join("")}`
}

function withPair(text: string, path: readonly string[], value: ConfigValue, wanted: TomlTable): string {
  assign(wanted, path, value)
  const statements = scan(text)
  const pair = statements.findLast(({ kind, path: own }) => kind === "pair" && same(own, path))
  if (pair !== undefined) return text.slice(0, pair.valueStart) + tomlValue(value) + text.slice(pair.valueEnd)
  const eol = lineEndOf(text)
  const table = path.slice(0, -1)
  const line = `${keyText(path.at(-1) ?? "")} = ${tomlValue(value)}${eol}`
  const first = statements.findIndex(({ kind }) => kind === "header")
  const header = statements.findLastIndex(({ kind, path: own }) => kind === "header" && same(own, table))
  if (table.length > 0 && header === -1) return `${endedText(text, eol)}[${table.map(keyText).join(".")}]${eol}${line}`
  const next = statements.findIndex(({ kind }, index) => kind === "header" && index > header)
  const last = statements[(next === -1 ? statements.length : next) - 1]
  if (last === undefined && first !== -1) {
    const at = commentsBefore(text, statements[first]?.start ?? 0)
    return `${text.slice(0, at)}${line}${eol}${text.slice(at)}`
  }
  if (last === undefined) return `${text === "" || text.endsWith("\n") ? text : `${text}${eol}`}${line}`
  const isEnded = text[last.end - 1] === "\n"
  return `${text.slice(0, last.end)}${isEnded ? "" : eol}${line}${text.slice(last.end)}`
}

export function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key)
}

export function tomlValue(value: ConfigValue): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`
  if (isTable(value)) {
    const pairs = Object.entries(value).map(([key, inner]) => `${keyText(key)} = ${tomlValue(inner)}`)
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`
  }
  if (value === null) throw new NotEditable("TOML has no null")
  // A JSON text is a TOML text, but for DEL, which TOML wants escaped.
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f")
}

/** The text as a new table can follow it: behind an empty line. */
export function endedText(text: string, eol: string): string {
  if (text.trim() === "") return text.trimEnd()
  const ended = text.endsWith("\n") ? text : `${text}${eol}`
  return /\n\r?\n$/.test(ended) ? ended : `${ended}${eol}`
}

export function lineEndOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n"
}

function commentsBefore(text: string, at: number): number {
  let start = at
  while (start > 0) {
    const line = text.lastIndexOf("\n", start - 2) + 1
    if (!text.slice(line, start).trimStart().startsWith("#")) return start
    start = line
  }
  return 0
}

function blankBefore(text: string, at: number): number {
  return text.slice(0, at).replace(/(\r?\n)(?:[ \t]*\r?\n)+$/, "$1").length
}

function isLastOfText(text: string, statements: readonly Statement[], index: number, path: readonly string[]): boolean {
  const rest = statements.slice(index)
  return rest.every((statement) => startsWith(statement.path, path)) && text.slice(rest.at(-1)?.end).trim() === ""
}

// --- Proof --------------------------------------------------------------------------------------------------------

export function proven(edited: string, wanted: TomlTable): string {
  if (Bun.deepEquals(parsed(edited), wanted)) return edited
  throw new NotEditable("the edit would change more than it should")
}

/** Tables that only a removed table had implied are gone with it. */
function withoutEmpty(edited: string, wanted: TomlTable, path: readonly string[]): TomlTable {
  const now = parsed(edited)
  for (let depth = path.length - 1; depth > 0; depth--) {
    const above = path.slice(0, depth)
    const left = valueAt(wanted, above)
    if (!isTable(left) || Object.keys(left).length > 0 || valueAt(now, above) !== undefined) break
    const outer = valueAt(wanted, above.slice(0, -1))
    if (isTable(outer)) delete (outer as TomlTable)[above.at(-1) ?? ""]
  }
  return wanted
}

export function parsed(text: string): TomlTable {
  try {
    return parseToml(text)
  } catch (error) {
    throw new NotEditable(error instanceof Error ? error.message : "it is not valid TOML")
  }
}

function valueAt(table: unknown, path: readonly string[]): unknown {
  let value = table
  for (const key of path) value = isTable(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return value
}

function assign(table: TomlTable, path: readonly string[], value: unknown): void {
  let into = table
  for (const key of path.slice(0, -1)) {
    const next = Object.hasOwn(into, key) ? into[key] : {}
    if (!isTable(next)) throw new NotEditable(`${key} is not a table`)
    into[key] = next
    into = next as TomlTable
  }
  into[path.at(-1) ?? ""] = value
}

export function startsWith(path: readonly string[], beginning: readonly string[]): boolean {
  return beginning.every((key, index) => path[index] === key)
}

function same(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && startsWith(left, right)
}

// --- Reading ------------------------------------------------------------------------------------------------------

/** The text has been parsed before: what stands here is TOML, and only has to be found. */
export function scan(text: string): Statement[] {
  const statements: Statement[] = []
  let table: readonly string[] = []
  let at = text.startsWith("\ufeff") ? 1 : 0
  while (at < text.length) {
    const start = at
    at = skip(text, at, /[ \t]/)
    const sign = text[at] ?? "\n"
    if (sign === "\n" || sign === "\r" || sign === "#") {
      at = lineEnd(text, at)
      continue
    }
    const isHeader = sign === "["
    const opened = isHeader ? skip(text, at, /[[ \t]/) : at
    const { path, end } = readKey(text, opened)
    if (isHeader) table = path
    const valueStart = isHeader ? end : skip(text, end + 1, /[ \t]/)
    const valueEnd = isHeader ? end : valueEndAt(text, valueStart)
    at = lineEnd(text, valueEnd)
    statements.push({
      kind: isHeader ? "header" : "pair",
      path: isHeader ? path : [...table, ...path],
      start,
      end: at,
      valueStart,
      valueEnd,
    })
  }
  return statements
}

function skip(text: string, from: number, what: RegExp): number {
  let at = from
  while (at < text.length && what.test(text[at] ?? "")) at++
  return at
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at)
  return end === -1 ? text.length : end + 1
}

/** A dotted key; `end` is at the `=` or the `]` behind it. */
function readKey(text: string, from: number): { readonly path: string[]; readonly end: number } {
  const path: string[] = []
  let at = from
  for (;;) {
    at = skip(text, at, /[ \t]/)
    const quote = text[at]
    const end = quote === '"' || quote === "'" ? stringEnd(text, at) : skip(text, at, /[A-Za-z0-9_-]/)
    const word = text.slice(at, end)
    if (word === "") throw new NotEditable(`there is no key at character ${at}`)
    path.push(quote === '"' ? String(parseToml(`key = ${word}`)["key"]) : word.replace(/^'|'$/g, ""))
    at = skip(text, end, /[ \t]/)
    if (text[at] !== ".") return { path, end: at }
    at++
  }
}

/** Behind a value: at the end of its line, or at the comment there. Lists and tables may span lines, and hold comments. */
function valueEndAt(text: string, from: number): number {
  let depth = 0
  let at = from
  let end = from
  while (at < text.length) {
    const sign = text[at] ?? ""
    if (depth === 0 && (sign === "\n" || sign === "#")) break
    depth += DEPTH_CHANGES[sign] ?? 0
    const next = tokenEnd(text, at, sign)
    if (sign !== "#" && sign.trim() !== "") end = next
    at = next
  }
  return end
}

const DEPTH_CHANGES: Readonly<Record<string, number>> = { "[": 1, "{": 1, "]": -1, "}": -1 }

function tokenEnd(text: string, at: number, sign: string): number {
  if (sign === "#") return lineEnd(text, at)
  return sign === '"' || sign === "'" ? stringEnd(text, at) : at + 1
}

function stringEnd(text: string, start: number): number {
  const quote = text[start] ?? ""
  const isLong = text.startsWith(quote.repeat(3), start)
  const mark = isLong ? quote.repeat(3) : quote
  for (let at = start + mark.length; at < text.length; at++) {
    if (quote === '"' && text[at] === "\\") at++
    else if (text.startsWith(mark, at)) return isLong ? skip(text, at, new RegExp(quote)) : at + 1
  }
  throw new NotEditable(`a string that starts at character ${start} does not end`)
}
