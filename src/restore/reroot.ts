/**
 * A session goes on in another directory, or on another machine: the strings of its records that are the old directory, or
 * a path below it, become the new one; and so do the names of the client's own folders. Text that merely mentions the
 * directory is what somebody said, and stays.
 */
import type { OutputFile, Serialize } from "../adapters/adapter.ts"
import { isExactNumber, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../model/json.ts"

export interface Move {
  readonly from: string
  readonly to: string
  /** How the client names a file of the new directory. */
  readonly place: Serialize["place"]
}

export interface Moved {
  readonly files: readonly OutputFile[]
  readonly rewrittenPaths: number
}

export function reroot(files: readonly OutputFile[], move: Move): Moved {
  const count = { paths: 0 }
  const moved = files.map((file): OutputFile => {
    const place = move.place?.(file.place, move.from, move.to) ?? file.place
    switch (file.form) {
      case "log":
        return {
          ...file,
          place,
          lines: file.lines.map((line) => (typeof line === "string" ? movedText(line, move, count) : line)),
        }
      case "document":
        return { ...file, place, text: movedText(file.text, move, count) }
      case "database":
        return {
          ...file,
          place,
          rows: file.rows.map((row) => ({ ...row, row: movedJson(row.row, move, count) as JsonObject })),
        }
      default:
        return { ...file, place }
    }
  })
  return { files: moved, rewrittenPaths: count.paths }
}

interface Count {
  paths: number
}

/** Only a line that names the directory is parsed: the others stay as they are. */
function movedText(text: string, move: Move, count: Count): string {
  if (!text.includes(stringifyJson(move.from).slice(1, -1)) && !text.includes(FILE_URL)) return text
  const parsed = parseJson(text)
  if (!parsed.ok) return text
  const before = count.paths
  const moved = movedJson(parsed.value, move, count)
  return count.paths === before ? text : stringifyJson(moved)
}

function movedJson(value: JsonValue, move: Move, count: Count): JsonValue {
  if (typeof value === "string") return movedString(value, move, count)
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value
  if (Array.isArray(value)) return value.map((item: JsonValue) => movedJson(item, move, count))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, movedJson(item, move, count)]))
}

function movedString(text: string, move: Move, count: Count): string {
  const { from, to } = move
  if (text.startsWith(FILE_URL)) return movedUrl(text, move, count)
  const isPath = text === from || text.startsWith(`${from}/`) || text.startsWith(`${from}\\`)
  if (!isPath) return text
  count.paths++
  return `${to}${text.slice(from.length)}`
}

const FILE_URL = "file://"

/** What stands behind the directory stays as the client encoded it. */
function movedUrl(text: string, { from, to }: Move, count: Count): string {
  const segments = text.slice(FILE_URL.length).split("/").slice(1)
  const [old, fresh] = [from, to].map((path) => path.split(/[/\\]/).filter((segment) => segment !== ""))
  if (old === undefined || fresh === undefined || !old.every((segment, at) => decoded(segments[at]) === segment))
    return text
  count.paths++
  const encoded = fresh.map((segment) => encodeURIComponent(segment).replace(/^([A-Za-z])%3A$/, "$1:"))
  return `${FILE_URL}/${[...encoded, ...segments.slice(old.length)].join("/")}`
}

function decoded(segment: string | undefined): string | undefined {
  try {
    return segment === undefined ? undefined : decodeURIComponent(segment)
  } catch {
    // Not what a client encodes: no path that it could mean.
    return undefined
  }
}
