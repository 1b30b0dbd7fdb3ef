/**
 * Changes one entry of a list of tables in a TOML text (`[[servers]]`), told apart by one of its keys, and leaves every other
 * byte as it is. As `toml-edit.ts`, which it is made of: pure, and proven by parsing.
 */
import { type ConfigValue, isTable, NotEditable } from "./editable.ts"
import {
  endedText,
  keyText,
  lineEndOf,
  parsed,
  proven,
  type Statement,
  scan,
  startsWith,
  tomlValue,
} from "./toml-edit.ts"

type Entry = { readonly [key: string]: ConfigValue }

/** `path` ends with the name of the entry. Keys that the value does not have stay. */
export function setInTomlList(text: string, path: readonly string[], value: Entry, named: string): string {
  const [name = "", list] = [path.at(-1), path.slice(0, -1)]
  const before = tablesOfList(text, list)
  const known = before.find((each) => each[named] === name)
  const entry = { ...(known ?? { [named]: name }), ...value }
  if (known !== undefined && Bun.deepEquals(known, entry)) return text
  const rest = known === undefined ? text : removeFromTomlList(text, path, named)
  const eol = lineEndOf(rest)
  const pairs = Object.entries(entry).map(([key, inner]) => `${keyText(key)} = ${tomlValue(inner)}${eol}`)
  const edited = `${withoutEmpty(endedText(rest, eol), list)}[[${list.map(keyText).join(".")}]]${eol}${pairs.join("")}`
  return provenList(edited, rest, list, [...tablesOfList(rest, list), entry])
}

export function removeFromTomlList(text: string, path: readonly string[], named: string): string {
  const [name, list] = [path.at(-1), path.slice(0, -1)]
  const before = tablesOfList(text, list)
  const index = before.findIndex((each) => each[named] === name)
  if (index < 0) return text
  const statements = scan(text)
  const heads = statements.filter((each) => isHead(each, list))
  const head = heads[index]
  if (head === undefined || heads.length !== before.length)
    throw new NotEditable(`${list.join(".")} stands in one line`)
  const from = statements.indexOf(head)
  const next = statements.findIndex(
    (each, at) => at > from && each.kind === "header" && (isHead(each, list) || !startsWith(each.path, list)),
  )
  const last = statements[(next < 0 ? statements.length : next) - 1] ?? head
  const isLast = text.slice(last.end).trim() === ""
  const start = isLast ? text.slice(0, head.start).replace(/(\r?\n)(?:[ \t]*\r?\n)+$/, "$1").length : head.start
  return provenList(`${text.slice(0, start)}${text.slice(last.end)}`, text, list, before.toSpliced(index, 1))
}

export function tablesOfList(text: string, list: readonly string[]): readonly Entry[] {
  let value: unknown = parsed(text)
  for (const key of list) value = isTable(value) ? value[key] : undefined
  if (value === undefined) return []
  if (Array.isArray(value) && value.every(isTable)) return value
  throw new NotEditable(`${list.join(".")} is not a list of tables`)
}

function isHead({ kind, path }: Statement, list: readonly string[]): boolean {
  return kind === "header" && path.length === list.length && startsWith(path, list)
}

/** A list in one line that has nothing makes room. */
function withoutEmpty(text: string, list: readonly string[]): string {
  const pair = scan(text).find(
    ({ kind, path }) => kind === "pair" && path.length === list.length && startsWith(path, list),
  )
  if (pair === undefined || !/^\[\s*\]$/.test(text.slice(pair.valueStart, pair.valueEnd))) return text
  return `${text.slice(0, pair.start)}${text.slice(pair.end)}`
}

/** All but the list is as it was, and the list is what was asked for. */
function provenList(edited: string, before: string, list: readonly string[], entries: readonly Entry[]): string {
  const wanted = structuredClone(parsed(before))
  let holder: Record<string, unknown> = wanted
  for (const key of list.slice(0, -1)) {
    holder[key] ??= {}
    holder = holder[key] as Record<string, unknown>
  }
  if (entries.length > 0) holder[list.at(-1) ?? ""] = entries
  else delete holder[list.at(-1) ?? ""]
  return proven(edited, wanted)
}
