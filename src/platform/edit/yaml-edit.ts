/**
 * Changes one key of a YAML text that belongs to somebody else, and leaves every other line as it is: comments, order, spelling.
 * Pure text to text. Maps and lists in block style are changed; what stands in one line between brackets is not, unless
 * it is empty. The result is parsed and compared with what was asked for, so that an edit that would change more is refused.
 */
import { type ConfigValue, isTable, NotEditable } from "./editable.ts"

type Table = Record<string, unknown>

/** Lines with their ends, and how many of the first are looked at. */
interface Stretch {
  readonly from: number
  readonly to: number
}

/**
 * Tables merge: keys that the value does not have stay. `named`: what the path leads into is a list, whose entries are told apart by
 * that key.
 */
export function setInYaml(text: string, path: readonly string[], value: ConfigValue, named?: string): string {
  const wanted = structuredClone(parsed(text))
  assign(wanted, path, value, named)
  const lines = linesWithEnds(text)
  putValue(lines, bodyOf(lines), { path, value, indent: 0, named })
  return proven(lines.join(""), wanted)
}

/** A table or a list that has nothing else goes with its only entry. */
export function removeFromYaml(text: string, path: readonly string[], named?: string): string {
  const wanted = structuredClone(parsed(text))
  if (valueAt(wanted, path, named) === undefined) return text
  const lines = linesWithEnds(text)
  let gone = path
  while (gone.length > 1 && isAlone(valueAt(wanted, gone.slice(0, -1), undefined))) gone = gone.slice(0, -1)
  const found = findAt(lines, bodyOf(lines), gone, gone.length === path.length ? named : undefined)
  if (found === undefined) throw new NotEditable(`${path.join(".")} stands in one line with others`)
  lines.splice(found.from, found.to - found.from)
  unassign(wanted, gone, gone.length === path.length ? named : undefined)
  return proven(lines.join(""), wanted)
}

export function valueInYaml(text: string, path: readonly string[], named?: string): ConfigValue | undefined {
  return valueAt(parsed(text), path, named) as ConfigValue | undefined
}

// --- Writing ----------------------------------------------------------------------------------------------------------

interface Placing {
  readonly path: readonly string[]
  readonly value: ConfigValue
  /** Where the keys of the stretch stand, if it has none. */
  readonly indent: number
  readonly named: string | undefined
}

function putValue(lines: string[], within: Stretch, { path, value, indent, named }: Placing): void {
  const [key = "", ...rest] = path
  const column = columnOf(lines, within) ?? indent
  const found = keyIn(lines, within, key, column)
  if (found === undefined) {
    const inner =
      rest.length === 1 && named !== undefined ? [namedEntry(rest[0] ?? "", value, named)] : nested(rest, value)
    insert(lines, within.to, written(key, inner, column, lineEndOf(lines)))
    return
  }
  if (rest.length === 0 && !isTable(value)) {
    lines.splice(found.from, found.to - found.from, ...written(key, value, column, lineEndOf(lines)))
    return
  }
  if (rest.length === 0 && isTable(value) && Object.keys(value).length === 0) return
  const children = opened(lines, found, key)
  const deeper = { value, indent: column + STEP, named }
  if (rest.length === 1 && named !== undefined) placeInList(lines, children, { ...deeper, path: rest })
  else if (rest.length > 0) putValue(lines, children, { ...deeper, path: rest })
  else if (isTable(value)) placeAll(lines, children, value, column + STEP)
}

const STEP = 2

function placeAll(
  lines: string[],
  within: Stretch,
  table: { readonly [key: string]: ConfigValue },
  indent: number,
): void {
  let { to } = within
  for (const [key, value] of Object.entries(table)) {
    const before = lines.length
    putValue(lines, { from: within.from, to }, { path: [key], value, indent, named: undefined })
    to += lines.length - before
  }
}

/** Behind the last entry, or what it says of an entry that is there. */
function placeInList(
  lines: string[],
  within: Stretch,
  { path: [name = ""], value, indent, named = "" }: Placing,
): void {
  const column = columnOf(lines, within) ?? indent
  const item = itemIn(lines, within, name, named)
  if (item === undefined) {
    insert(lines, within.to, writtenItem(namedEntry(name, value, named), column, lineEndOf(lines)))
    return
  }
  const first = lines[item.from] ?? ""
  lines[item.from] = first.replace("-", " ")
  if (isTable(value)) placeAll(lines, item, value, column + STEP)
  lines[item.from] = (lines[item.from] ?? "").replace(" ".repeat(column + 1), `${" ".repeat(column)}-`)
}

function namedEntry(name: string, value: ConfigValue, named: string): ConfigValue {
  return isTable(value) ? { [named]: name, ...value } : value
}

function nested(path: readonly string[], value: ConfigValue): ConfigValue {
  return path.reduceRight<ConfigValue>((inner, key) => ({ [key]: inner }), value)
}

function written(key: string, value: ConfigValue, column: number, end: string): string[] {
  const before = " ".repeat(column)
  const name = /^[A-Za-z_][\w.-]*$/.test(key) ? key : JSON.stringify(key)
  if (isTable(value) && Object.keys(value).length > 0)
    return [`${before}${name}:${end}`, ...Object.entries(value).flatMap((each) => written(...each, column + STEP, end))]
  if (Array.isArray(value) && value.length > 0 && value.every(isTable))
    return [`${before}${name}:${end}`, ...value.flatMap((each) => writtenItem(each, column + STEP, end))]
  // A JSON text in one line is a YAML text.
  return [`${before}${name}: ${JSON.stringify(value)}${end}`]
}

function writtenItem(value: ConfigValue, column: number, end: string): string[] {
  if (!isTable(value)) return [`${" ".repeat(column)}- ${JSON.stringify(value)}${end}`]
  const [first = "", ...others] = Object.entries(value).flatMap((each) => written(...each, column + STEP, end))
  return [`${" ".repeat(column)}- ${first.trimStart()}`, ...others]
}

function insert(lines: string[], at: number, added: readonly string[]): void {
  const before = lines[at - 1]
  if (before !== undefined && !before.endsWith("\n")) lines[at - 1] = `${before}${lineEndOf(lines)}`
  lines.splice(at, 0, ...added)
}

/** What stands below a key. An empty map or list in its line makes room for one in block style. */
function opened(lines: string[], { from, to }: Stretch, key: string): Stretch {
  const [, before = "", value = "", after = ""] = KEY_LINE.exec(lines[from] ?? "") ?? []
  if (value === "") return { from: from + 1, to }
  if (to > from + 1 || !/^(?:\{\s*\}|\[\s*\]|null|~)$/.test(value))
    throw new NotEditable(`${key} stands in one line between brackets`)
  lines[from] = `${before}${after === "" ? "" : ` ${after}`}${lineEndOf(lines)}`
  return { from: from + 1, to }
}

/** A key with its colon, its value, and a comment behind it. */
const KEY_LINE =
  /^( *(?:- +)?(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s#:'"][^:#]*?) *:)[ \t]*(.*?)[ \t]*((?:^|(?<=\s))#.*)?\r?\n?$/

// --- Reading ----------------------------------------------------------------------------------------------------------

function linesWithEnds(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/)
}

function lineEndOf(lines: readonly string[]): string {
  return lines[0]?.endsWith("\r\n") === true ? "\r\n" : "\n"
}

/** The document but for its marks. */
function bodyOf(lines: readonly string[]): Stretch {
  const start = lines.findIndex((line) => /^---\s*$/.test(line))
  const end = lines.findIndex((line, at) => at > start && /^(?:---|\.\.\.)(?:\s|$)/.test(line))
  return { from: start + 1, to: end < 0 ? lines.length : end }
}

function isSilent(line: string): boolean {
  return line.trim() === "" || line.trimStart().startsWith("#")
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

/** Where the first key or entry of a stretch stands. */
function columnOf(lines: readonly string[], { from, to }: Stretch): number | undefined {
  const first = lines.slice(from, to).find((line) => !isSilent(line))
  return first === undefined ? undefined : indentOf(first)
}

function keyIn(lines: readonly string[], within: Stretch, key: string, column: number): Stretch | undefined {
  for (let at = within.from; at < within.to; at++) {
    const line = lines[at] ?? ""
    if (isSilent(line) || indentOf(line) !== column || keyInLine(line) !== key) continue
    return { from: at, to: blockEnd(lines, at, within.to, column) }
  }
  return undefined
}

function keyInLine(line: string): string | undefined {
  const name = KEY_LINE.exec(line)?.[1]?.replace(/ *:$/, "").trimStart()
  if (name === undefined) return undefined
  return name.startsWith('"') ? String(parsedValue(name)) : name.replace(/^'(.*)'$/, "$1")
}

/** Deeper lines belong to it, comments among them. The entries of a list may stand below the first sign of its key. */
function blockEnd(lines: readonly string[], start: number, limit: number, column: number): number {
  const isOpen = KEY_LINE.exec(lines[start] ?? "")?.[2] === ""
  let end = start + 1
  for (let at = start + 1; at < limit; at++) {
    const line = lines[at] ?? ""
    if (line.trim() === "") continue
    const indent = indentOf(line)
    const isEntry = isOpen && indent === column && /^ *-(?:\s|$)/.test(line)
    if (indent > column || isEntry) end = at + 1
    else if (!isSilent(line)) break
  }
  return end
}

function itemIn(lines: readonly string[], within: Stretch, name: string, named: string): Stretch | undefined {
  const column = columnOf(lines, within) ?? 0
  for (let at = within.from; at < within.to; at++) {
    const line = lines[at] ?? ""
    if (indentOf(line) !== column || !/^ *-\s/.test(line)) continue
    let to = at + 1
    for (let next = at + 1; next < within.to; next++) {
      const text = lines[next] ?? ""
      if (text.trim() === "") continue
      if (indentOf(text) <= column) break
      to = next + 1
    }
    const own = [line.replace("-", " "), ...lines.slice(at + 1, to)].join("")
    const entry = parsedValue(own)
    if (isTable(entry) && entry[named] === name) return { from: at, to }
  }
  return undefined
}

function findAt(
  lines: readonly string[],
  within: Stretch,
  [key = "", ...rest]: readonly string[],
  named: string | undefined,
): Stretch | undefined {
  const found = keyIn(lines, within, key, columnOf(lines, within) ?? 0)
  if (found === undefined || rest.length === 0) return found
  const inner = { from: found.from + 1, to: found.to }
  if (rest.length === 1 && named !== undefined) return itemIn(lines, inner, rest[0] ?? "", named)
  return findAt(lines, inner, rest, named)
}

// --- Values and proof -------------------------------------------------------------------------------------------------

function parsed(text: string): Table {
  const value = parsedValue(text)
  if (value === null || value === undefined) return {}
  if (isTable(value)) return value as Table
  throw new NotEditable("it is not a map of settings")
}

function parsedValue(text: string): unknown {
  try {
    return Bun.YAML.parse(text)
  } catch (error) {
    throw new NotEditable(error instanceof Error ? error.message : "it is not valid YAML")
  }
}

function proven(edited: string, wanted: Table): string {
  if (Bun.deepEquals(parsed(edited), wanted)) return edited
  throw new NotEditable("the edit would change more than it should")
}

function isAlone(value: unknown): boolean {
  return (isTable(value) && Object.keys(value).length === 1) || (Array.isArray(value) && value.length === 1)
}

function valueAt(table: unknown, path: readonly string[], named: string | undefined): unknown {
  let value = table
  for (const [at, key] of path.entries()) {
    if (named !== undefined && at === path.length - 1 && Array.isArray(value))
      value = value.find((entry: unknown) => isTable(entry) && entry[named] === key)
    else value = isTable(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return value
}

function assign(table: Table, path: readonly string[], value: ConfigValue, named: string | undefined): void {
  let into: unknown = table
  const keys = named === undefined ? path : path.slice(0, -1)
  for (const key of keys.slice(0, -1)) into = childOf(into, key)
  const last = keys.at(-1) ?? ""
  if (!isTable(into)) throw new NotEditable(`${path.join(".")} has no place`)
  const holder = into as Table
  if (named === undefined) holder[last] = deepMerged(into[last], value)
  else holder[last] = withEntry(into[last] ?? [], path.at(-1) ?? "", value, named)
}

function withEntry(list: unknown, name: string, value: ConfigValue, named: string): unknown {
  if (!Array.isArray(list)) throw new NotEditable("it is not a list")
  const at = list.findIndex((each: unknown) => isTable(each) && each[named] === name)
  return at < 0 ? [...list, namedEntry(name, value, named)] : list.with(at, deepMerged(list[at], value))
}

function deepMerged(before: unknown, value: ConfigValue): unknown {
  if (!isTable(before) || !isTable(value)) return value
  const own = Object.entries(value).map(([key, inner]) => [key, deepMerged(before[key], inner)])
  return { ...before, ...Object.fromEntries(own) }
}

function childOf(into: unknown, key: string): unknown {
  if (!isTable(into)) throw new NotEditable(`${key} has no place`)
  const known = into[key] ?? {}
  const child = Array.isArray(known) && known.length === 0 ? {} : known
  if (!isTable(child)) throw new NotEditable(`${key} is not a map`)
  ;(into as Table)[key] = child
  return child
}

function unassign(table: Table, path: readonly string[], named: string | undefined): void {
  const above = valueAt(table, path.slice(0, -1), undefined)
  const key = path.at(-1) ?? ""
  if (Array.isArray(above) && named !== undefined) {
    const at = above.findIndex((entry: unknown) => isTable(entry) && entry[named] === key)
    above.splice(at, 1)
  } else if (isTable(above)) delete (above as Table)[key]
}
