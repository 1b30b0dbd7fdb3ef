/**
 * Where the last list or search of this shell ended, so that `--more` continues it and nobody copies a cursor. A cache: a
 * state directory that cannot be written costs the convenience and nothing else.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PondError } from "../model/errors.ts"
import { isJsonObject, parseJson } from "../model/json.ts"
import type { Host } from "../platform/host/host.ts"
import { ensureWritable } from "../platform/host/paths.ts"

/** What to ask for again. */
type Input = Readonly<Record<string, unknown>>

const SHELLS_MAX = 40

/** Remembers where an answer ended; nothing where it was the last page. */
export function rememberNextPage(host: Host, verb: string, input: Input, cursor: string | undefined): void {
  const key = keyOf(verb)
  const { [key]: _, ...others } = readAll(host)
  const kept = Object.entries(others).slice(-SHELLS_MAX)
  const all = cursor === undefined ? kept : [...kept, [key, { ...input, cursor }]]
  try {
    const directory = ensureWritable(host.path("state"))
    writeFileSync(join(directory, "next-pages.json"), `${JSON.stringify(Object.fromEntries(all))}\n`, { mode: 0o600 })
  } catch {
    // It is told by its cursor then.
  }
}

export function nextPage(host: Host, verb: string): Input {
  const found = readAll(host)[keyOf(verb)]
  if (found !== undefined) return found
  throw new PondError("not_found", `There is no next page: \`pond ${verb}\` ended here, or did not run in this shell.`)
}

function keyOf(verb: string): string {
  return `${process.ppid} ${verb}`
}

function readAll(host: Host): Readonly<Record<string, Input>> {
  try {
    const parsed = parseJson(readFileSync(join(host.path("state"), "next-pages.json"), "utf8"))
    return parsed.ok && isJsonObject(parsed.value) ? (parsed.value as unknown as Record<string, Input>) : {}
  } catch {
    return {}
  }
}
