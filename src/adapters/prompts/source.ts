/**
 * The prompts of sessions that are gone: lines of `history.jsonl`, which the client keeps when it deletes a session. Only that file
 * is opened, by its name. What is restored lies as one document for each session in `prompts`.
 */
import { existsSync, readFileSync, type Stats, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import type { Environment } from "../../platform/host/environment.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { fileOf } from "../shared/folders.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { type Brand, LIST, PLAIN_ID } from "./brands.ts"

const HISTORY = "history.jsonl"
const FOLDER = "prompts"
const RESTORED = new RegExp(`^${FOLDER}/[0-9a-f-]{36}\\.json$`)

export function promptsSource(brand: Brand): Source {
  return {
    roots: () => [],
    askedRoots: (environment, home) =>
      rootsOf(brand, environment, home).filter((root) => existsSync(join(root, HISTORY))),
    plan: (root) => plan(root, brand),
  }
}

function rootsOf({ folders, variable }: Brand, environment: Environment, home: string): string[] {
  const chosen = environment[variable]
  return [...new Set([...(chosen ? [chosen] : []), ...folders.map((folder) => join(home, folder))])]
}

function plan(given: string, brand: Brand): (SourceUnit | Issue)[] {
  const isFile = basename(given) === HISTORY && statSync(given, { throwIfNoEntry: false })?.isFile() === true
  const root = isFile ? dirname(given) : given
  const restored = filesBelow(root, { form: "document", depthMax: 1, accepts: (place) => RESTORED.test(place) })
  const units = restored.map((file) =>
    isIssue(file)
      ? file
      : unitOfPrompts(root, file, file.relativePath.slice(FOLDER.length + 1, -".json".length), brand),
  )
  const path = join(root, HISTORY)
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isFile() !== true) return units
  const kept = keptSessions(root, brand)
  const bySession = linesBySession(path, stat, brand)
  const { unread } = last ?? { unread: 0 }
  const issue = { file: HISTORY, found: `unreadable lines: ${unread}` }
  if (unread > 0) units.push({ kind: "unparsable_line", severity: "fault", ...issue })
  else if (bySession.size === 0)
    units.push({ kind: "unknown_record", severity: "note", file: HISTORY, found: "no line that names a session" })
  for (const [id, lines] of bySession)
    if (!kept.has(id)) units.push(unitOfPrompts(root, lineFile(root, stat, id, lines), id, brand))
  return units
}

function unitOfPrompts(root: string, file: SourceFile, id: string, { client }: Brand): SourceUnit {
  return { key: file.relativePath, root, files: [file], insteadOf: { id, source_agent: client } }
}

/** Lines of several sessions lie in one file: what tells that one of them grew is a hash of its lines. */
function lineFile(root: string, stat: Stats, id: string, lines: readonly string[]): SourceFile {
  const { changedMs: _, ...file } = fileOf(root, `${FOLDER}/${id}.json`, "document", stat)
  const text = lines.join("\n")
  return {
    ...file,
    path: join(root, HISTORY),
    sizeBytes: Buffer.byteLength(text),
    inode: Number(Bun.hash.xxHash64(text) & 0x1fffffffffffffn),
    modifiedMs: 0,
  }
}

/** The document of a session: its lines in their order. */
export function assembleOf(brand: Brand): (file: SourceFile) => string | undefined {
  return ({ path, relativePath }) => {
    if (basename(path) !== HISTORY) return undefined
    const id = relativePath.slice(FOLDER.length + 1, -".json".length)
    const lines = linesBySession(path, statSync(path), brand).get(id) ?? []
    return `{${stringifyJson(brand.session)}:${stringifyJson(id)},${stringifyJson(LIST)}:[${lines.join(",")}]}`
  }
}

/** A file has the lines of all sessions, which are asked for one after the other. */
let last: Read | undefined

interface Read {
  readonly key: string
  readonly lines: ReadonlyMap<string, readonly string[]>
  /** Lines that are no JSON object. */
  readonly unread: number
}

function linesBySession(
  path: string,
  { size, mtimeMs, ino }: Stats,
  brand: Brand,
): ReadonlyMap<string, readonly string[]> {
  const key = [path, size, mtimeMs, ino, brand.id].join("|")
  if (last?.key === key) return last.lines
  const lines = new Map<string, string[]>()
  let unread = 0
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line.trim() === "") continue
    const parsed = parseJson(line)
    if (!parsed.ok || !isJsonObject(parsed.value)) {
      unread++
      continue
    }
    const id = sessionIn(parsed.value, brand)
    if (id === undefined) continue
    const known = lines.get(id)
    if (known === undefined) lines.set(id, [line])
    else known.push(line)
  }
  last = { key, lines, unread }
  return lines
}

/** Lines of 2025 name no session: which one they were typed into nobody can tell. */
function sessionIn(line: JsonObject, { session, text }: Brand): string | undefined {
  const { [session]: id, [text]: words } = line
  return typeof id === "string" && PLAIN_ID.test(id) && typeof words === "string" ? id : undefined
}

const DEPTH_MAX = 5

/** The sessions that are there: their logs hold their prompts. By name, none is opened. */
function keptSessions(root: string, { sessions, sessionOf }: Brand): ReadonlySet<string> {
  const folder = join(root, sessions)
  if (!existsSync(folder)) return new Set()
  const accepts = (place: string) => sessionOf.test(basename(place))
  const found = filesBelow(folder, { form: "log", depthMax: DEPTH_MAX, accepts })
  return new Set(
    found.flatMap((file) => (isIssue(file) ? [] : (sessionOf.exec(basename(file.relativePath))?.[1] ?? []))),
  )
}
