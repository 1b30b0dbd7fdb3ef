/** The lines of `history.jsonl`, by session; those that name none, which are of 2025, by project and day. */
import { readFileSync, type Stats } from "node:fs"
import { isJsonObject, type JsonObject, parseJson } from "../../model/json.ts"
import { hexOf } from "../shared/derived-ids.ts"
import { type Brand, PLAIN_ID } from "./brands.ts"

interface Read {
  readonly key: string
  readonly lines: ReadonlyMap<string, readonly string[]>
  /** Lines that are no JSON object. */
  readonly unread: number
}

/** A file has the lines of all sessions, which are asked for one after the other. */
let last: Read | undefined

export function linesOfHistory(path: string, { size, mtimeMs, ino }: Stats, brand: Brand): Read {
  const key = [path, size, mtimeMs, ino, brand.id].join("|")
  if (last?.key === key) return last
  const lines = new Map<string, string[]>()
  let unread = 0
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line.trim() === "") continue
    const parsed = parseJson(line)
    if (!parsed.ok || !isJsonObject(parsed.value)) {
      unread++
      continue
    }
    const id = sessionIn(parsed.value, brand) ?? dayIn(parsed.value)
    const known = lines.get(id)
    if (known === undefined) lines.set(id, [line])
    else known.push(line)
  }
  last = { key, lines, unread }
  return last
}

function sessionIn(line: JsonObject, { session }: Brand): string | undefined {
  const { [session]: id } = line
  return typeof id === "string" && PLAIN_ID.test(id) ? id : undefined
}

/** Which session it was typed into is not known. The day is that of UTC, and the project a hash: it becomes the name of a file. */
function dayIn({ project, timestamp, ts }: JsonObject): string {
  const seconds = typeof ts === "number" ? ts * 1000 : Number.NaN
  const at = new Date(typeof timestamp === "number" ? timestamp : seconds)
  const moment = Number.isNaN(at.getTime()) ? "" : at.toISOString()
  const day = /^\d{4}-\d\d-\d\d/.exec(moment)?.[0] ?? "undated"
  return `${day}-${hexOf(typeof project === "string" ? project : "", 8)}`
}
