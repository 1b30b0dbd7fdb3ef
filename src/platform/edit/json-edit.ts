/**
 * Changes one key of a JSON text that belongs to somebody else, and leaves every other byte as it is: comments, trailing
 * commas, indentation, line ends, numbers beyond a double. Pure text to text; what it cannot place it refuses.
 */
import { type ConfigValue, isTable, NotEditable } from "./editable.ts"

interface Member {
  readonly key: string
  readonly keyStart: number
  readonly value: Node
  /** Behind its comma; undefined where it has none. */
  commaEnd: number | undefined
}

type Node =
  | { readonly kind: "object"; readonly start: number; end: number; readonly members: Member[] }
  | { readonly kind: "list"; readonly start: number; end: number; readonly items: Node[] }
  | { readonly kind: "scalar"; readonly start: number; readonly end: number }

type ObjectNode = Extract<Node, { kind: "object" }>

/** Objects merge: keys that the value does not have stay. */
export function setInJson(text: string, path: readonly string[], value: ConfigValue): string {
  if (text.replace(BYTE_ORDER_MARK, "").trim() === "") {
    const nested = path.reduceRight<ConfigValue>((inner, name) => ({ [name]: inner }), value)
    return `${rendered(nested, "", "  ")}\n`
  }
  const root = parseNode(text)
  const { node, rest } = descend(root, path)
  if (rest.length === 0) return merged(text, path, node, value)
  if (node.kind !== "object")
    throw new NotEditable(`${path.slice(0, path.length - rest.length).join(".")} is not an object`)
  const nested = rest.slice(1).reduceRight<ConfigValue>((inner, name) => ({ [name]: inner }), value)
  return withMember(text, root, node, rest[0] ?? "", nested)
}

export function removeFromJson(text: string, path: readonly string[]): string {
  const { node, rest } = descend(parseNode(text), path.slice(0, -1))
  const key = path.at(-1)
  const found = rest.length === 0 && node.kind === "object" ? lastOf(node, key) : undefined
  if (found === undefined || node.kind !== "object") return text
  const index = node.members.indexOf(found)
  const before = node.members[index - 1]
  const from = contentEnd(text, node.start + 1, found.keyStart)
  const to = found.commaEnd ?? found.value.end
  if (node.members.length === 1 && text.slice(from, found.keyStart).trim() === "" && text[from - 1] === "{") {
    const after = text.slice(to, node.end - 1)
    return after.trim() === "" ? splice(text, from, node.end - 1, "") : splice(text, from, to, "")
  }
  const cut = splice(text, from, to, "")
  // The last one takes the comma before it along, or it would be left hanging.
  const comma = found.commaEnd === undefined ? before?.commaEnd : undefined
  return comma === undefined ? cut : splice(cut, comma - 1, comma, "")
}

/** Adds an element to the end of the list at the path, which is made where there is none. */
export function addToJsonList(text: string, path: readonly string[], value: ConfigValue): string {
  const found = text.trim() === "" ? undefined : descend(parseNode(text), path)
  if (found === undefined || found.rest.length > 0) return setInJson(text, path, [value])
  const { node } = found
  if (node.kind !== "list") throw new NotEditable(`${path.join(".")} is not a list`)
  const last = node.items.at(-1)
  if (last === undefined)
    return splice(text, node.start + 1, contentEnd(text, node.start + 1, node.end - 1), spaced(value))
  const comma = skipBlank(text, last.end)
  const at = text[comma] === "," ? comma + 1 : last.end
  const isOnOneLine = !text.slice(node.start, last.start).includes("\n")
  const lead = isOnOneLine ? " " : `${text.includes("\r\n") ? "\r\n" : "\n"}${indentAt(text, last.start)}`
  return splice(text, at, at, `${at === last.end ? "," : ""}${lead}${spaced(value)}`)
}

/** Takes out the elements of the list at the path that are meant. A list that has no others goes with its key. */
export function removeFromJsonList(
  text: string,
  path: readonly string[],
  isMeant: (value: ConfigValue) => boolean,
): string {
  const { node, rest } = descend(parseNode(text), path)
  if (rest.length > 0 || node.kind !== "list") return text
  const at = node.items.findLastIndex((each) => isMeant(readOf(text, each)))
  if (at < 0) return text
  if (node.items.length === 1) return removeFromJson(text, path)
  const [before, item, after] = [node.items[at - 1], node.items[at], node.items[at + 1]]
  const from = before?.end ?? item?.start ?? 0
  const to = before === undefined ? (after?.start ?? 0) : (item?.end ?? 0)
  return removeFromJsonList(splice(text, from, to, ""), path, isMeant)
}

/** What stands at the path; undefined where nothing does, or where the text is no JSON. */
export function valueInJson(text: string, path: readonly string[]): ConfigValue | undefined {
  if (text.trim() === "") return undefined
  const { node, rest } = descend(parseNode(text), path)
  return rest.length === 0 ? readOf(text, node) : undefined
}

// --- Writing ------------------------------------------------------------------------------------------------------

function merged(text: string, path: readonly string[], node: Node, value: ConfigValue): string {
  if (node.kind === "object" && isTable(value)) {
    let edited = text
    for (const [key, inner] of Object.entries(value)) edited = setInJson(edited, [...path, key], inner)
    return edited
  }
  if (Bun.deepEquals(readOf(text, node), value)) return text
  return splice(text, node.start, node.end, rendered(value, indentAt(text, node.start), unitOf(text)))
}

function withMember(text: string, root: Node, into: ObjectNode, key: string, value: ConfigValue): string {
  const last = into.members.at(-1)
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n"
  const unit = unitOf(text)
  const isOnOneLine = last !== undefined && !text.slice(into.start, into.end).includes("\n") && into !== root
  const outer = indentAt(text, into.start)
  const inner = last === undefined ? `${outer}${unit}` : indentOr(text, last.keyStart, `${outer}${unit}`)
  const shown = isOnOneLine ? spaced(value) : rendered(value, inner, unit).replaceAll("\n", lineEnd)
  const lead = isOnOneLine ? " " : `${lineEnd}${inner}`
  const member = `${lead}${JSON.stringify(key)}: ${shown}`
  const at = contentEnd(text, into.start + 1, into.end - 1)
  const hasTail = text.slice(at, into.end - 1).includes("\n") || isOnOneLine
  const tail = hasTail ? "" : `${lineEnd}${outer}`
  if (last === undefined) return splice(text, at, at, `${member}${tail}`)
  if (last.commaEnd !== undefined) return splice(text, at, at, `${member},${tail}`)
  return splice(splice(text, at, at, `${member}${tail}`), last.value.end, last.value.end, ",")
}

/** As people lay JSON out: a member on each line, a list of plain values on one. */
function rendered(value: ConfigValue, indent: string, unit: string): string {
  if (!isTable(value) || Object.keys(value).length === 0) return spaced(value)
  const inner = `${indent}${unit}`
  const members = Object.entries(value).map(
    ([key, each]) => `${inner}${JSON.stringify(key)}: ${rendered(each, inner, unit)}`,
  )
  return `{\n${members.join(",\n")}\n${indent}}`
}

function spaced(value: ConfigValue): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`
  if (!isTable(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${spaced(inner)}`)
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`
}

function splice(text: string, from: number, to: number, instead: string): string {
  return `${text.slice(0, from)}${instead}${text.slice(to)}`
}

/** What the line of this place begins with. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at)
  return /^[\ufeff]?([ \t]*)/.exec(line)?.[1] ?? ""
}

/** The same, where nothing else stands before the place on its line. */
function indentOr(text: string, at: number, otherwise: string): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at)
  return line.trim() === "" ? line : otherwise
}

function unitOf(text: string): string {
  return /\n([ \t]+)"/.exec(text)?.[1] ?? "  "
}

/** Behind the last token or comment between two places: white space after it belongs to what follows. */
function contentEnd(text: string, from: number, to: number): number {
  let end = from
  let at = from
  while (at < to) {
    const next = afterComment(text, at) ?? (/\s/.test(text[at] ?? "") ? undefined : afterToken(text, at))
    at = next ?? at + 1
    if (next !== undefined) end = Math.min(next, to)
  }
  return end
}

function afterToken(text: string, at: number): number {
  return text[at] === '"' ? stringEnd(text, at) : at + 1
}

// --- Reading ------------------------------------------------------------------------------------------------------

const BYTE_ORDER_MARK = /^\ufeff/

function descend(root: Node, path: readonly string[]): { readonly node: Node; readonly rest: readonly string[] } {
  let node = root
  for (const [depth, key] of path.entries()) {
    const next = node.kind === "object" ? lastOf(node, key)?.value : undefined
    if (next === undefined) return { node, rest: path.slice(depth) }
    node = next
  }
  return { node, rest: [] }
}

/** Of two members with one key the last one counts, for every reader of JSON. */
function lastOf(node: ObjectNode, key: string | undefined): Member | undefined {
  return node.members.findLast((member) => member.key === key)
}

function readOf(text: string, node: Node): ConfigValue {
  if (node.kind === "scalar") return JSON.parse(text.slice(node.start, node.end)) as ConfigValue
  if (node.kind === "list") return node.items.map((item) => readOf(text, item))
  return Object.fromEntries(node.members.map(({ key, value }) => [key, readOf(text, value)]))
}

function parseNode(text: string): Node {
  const start = skipBlank(text, BYTE_ORDER_MARK.test(text) ? 1 : 0)
  const node = readValue(text, start, 0)
  const end = skipBlank(text, node.end)
  if (end < text.length) throw new NotEditable(`something follows the value, at character ${end}`)
  return node
}

const DEPTH_MAX = 500

function readValue(text: string, at: number, depth: number): Node {
  if (depth > DEPTH_MAX) throw new NotEditable("it is nested too deeply")
  if (text[at] === "{") return readObject(text, at, depth)
  if (text[at] === "[") return readList(text, at, depth)
  if (text[at] === '"') return { kind: "scalar", start: at, end: stringEnd(text, at) }
  const [word] = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/.exec(text.slice(at, at + 400)) ?? []
  if (word === undefined) throw new NotEditable(`there is no value at character ${at}`)
  return { kind: "scalar", start: at, end: at + word.length }
}

function readObject(text: string, start: number, depth: number): Node {
  const node: ObjectNode = { kind: "object", start, end: start, members: [] }
  let at = skipBlank(text, start + 1)
  while (text[at] !== "}") {
    const last = node.members.at(-1)
    if (text[at] !== '"' || (last !== undefined && last.commaEnd === undefined)) {
      throw new NotEditable(`there is no key at character ${at}`)
    }
    const keyStart = at
    const keyEnd = stringEnd(text, at)
    at = skipBlank(text, keyEnd)
    if (text[at] !== ":") throw new NotEditable(`there is no colon at character ${at}`)
    const value = readValue(text, skipBlank(text, at + 1), depth + 1)
    at = skipBlank(text, value.end)
    const commaEnd = text[at] === "," ? at + 1 : undefined
    node.members.push({ key: JSON.parse(text.slice(keyStart, keyEnd)) as string, keyStart, value, commaEnd })
    at = skipBlank(text, commaEnd ?? at)
  }
  node.end = at + 1
  return node
}

function readList(text: string, start: number, depth: number): Node {
  const items: Node[] = []
  let at = skipBlank(text, start + 1)
  while (text[at] !== "]") {
    const item = readValue(text, at, depth + 1)
    items.push(item)
    at = skipBlank(text, item.end)
    if (text[at] === ",") at = skipBlank(text, at + 1)
    else if (text[at] !== "]") throw new NotEditable(`a list is not continued at character ${at}`)
  }
  return { kind: "list", start, end: at + 1, items }
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++
    else if (text[at] === "\n") break
    else if (text[at] === '"') return at + 1
  }
  throw new NotEditable(`a string that starts at character ${start} does not end`)
}

function skipBlank(text: string, from: number): number {
  let at = from
  for (;;) {
    while (/\s/.test(text[at] ?? "")) at++
    const next = afterComment(text, at)
    if (next === undefined) return at
    at = next
  }
}

function afterComment(text: string, at: number): number | undefined {
  if (text.startsWith("//", at)) {
    const end = text.indexOf("\n", at)
    const stop = end === -1 ? text.length : end
    return text[stop - 1] === "\r" ? stop - 1 : stop
  }
  if (!text.startsWith("/*", at)) return undefined
  const end = text.indexOf("*/", at + 2)
  if (end === -1) throw new NotEditable(`a comment that starts at character ${at} does not end`)
  return end + 2
}
