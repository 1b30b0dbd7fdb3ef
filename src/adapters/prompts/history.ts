/** The lines of `history.jsonl`, by session; those that name none, which are of 2025, by project and day. */
import { readFileSync, type Stats } from "node:fs"
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from "../../model/json.ts"
import { hexOf } from "../shared/derived-ids.ts"
import { type Brand, PLAIN_ID } from "./brands.ts"

interface Read {
  readonly key: string
  readonly lines: ReadonlyMap<string, readonly string[]>
  /** Lines that are no JSON object. */
  readonly unread: number
  /** Objects that are no prompts: what somebody points at may be another list. */
  readonly others: number
}

/** A file has the lines of all sessions, which are asked for one after the other. */
let last: Read | undefined

export function linesOfHistory(path: string, { size, mtimeMs, ino }: Stats, brand: Brand): Read {
  const key = [path, size, mtimeMs, ino, brand.id].join("|")
  if (last?.key === key) return last
  const lines = new Map<string, string[]>()
  const days = new Map<string, string>()
  let [unread, others] = [0, 0]
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line.trim() === "") continue
    const parsed = parseJson(line)
    if (!parsed.ok || !isJsonObject(parsed.value)) {
      unread++
      continue
    }
    const id = sessionIn(parsed.value, brand) ?? dayOf(line, parsed.value)
    if (id === undefined) others++
    else if (lines.get(id)?.push(line) === undefined) lines.set(id, [line])
  }
  last = { key, lines, unread, others }
  return last

  /** Two machines have the same projects: the first line of a day tells its records apart. */
  function dayOf(line: string, fields: JsonObject): string | undefined {
    if (typeof fields[brand.text] !== "string") return undefined
    const day = dayIn(fields)
    const group = `${day} ${stringifyJson(fields["project"] ?? null)}`
    const id = days.get(group) ?? `${day}-${hexOf(line, 8)}`
    days.set(group, id)
    return id
  }
}

function sessionIn(line: JsonObject, { session }: Brand): string | undefined {
  const { [session]: id } = line
  return typeof id === "string" && PLAIN_ID.test(id) ? id : undefined
}

/** By UTC. */
function dayIn({ timestamp, ts }: JsonObject): string {
  const seconds = typeof ts === "number" ? ts * 1000 : Number.NaN
  const at = new Date(typeof timestamp === "number" ? timestamp : seconds)
  const moment = Number.isNaN(at.getTime()) ? "" : at.toISOString()
  return /^\d{4}-\d\d-\d\d/.exec(moment)?.[0] ?? "undated"
}
