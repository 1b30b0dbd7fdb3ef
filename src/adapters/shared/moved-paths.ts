/**
 * The paths of a record in another directory: the strings that are the old directory, or a path below it, become the new
 * one. Text that merely mentions the directory is what somebody said, and stays.
 */
import { isExactNumber, type JsonValue } from "../../model/json.ts"

export interface Move {
  readonly from: string
  readonly to: string
}

/** How many strings became other ones. */
export interface MovedCount {
  paths: number
}

export function movedJson(value: JsonValue, move: Move, count: MovedCount = { paths: 0 }): JsonValue {
  if (typeof value === "string") return movedString(value, move, count)
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value
  if (Array.isArray(value)) return value.map((item: JsonValue) => movedJson(item, move, count))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, movedJson(item, move, count)]))
}

function movedString(text: string, move: Move, count: MovedCount): string {
  const { from, to } = move
  if (text.startsWith(FILE_URL)) return movedUrl(text, move, count)
  const isPath = text === from || text.startsWith(`${from}/`) || text.startsWith(`${from}\\`)
  if (!isPath) return text
  count.paths++
  return `${to}${text.slice(from.length)}`
}

export const FILE_URL = "file://"

/** What stands behind the directory stays as the client encoded it. */
function movedUrl(text: string, { from, to }: Move, count: MovedCount): string {
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
