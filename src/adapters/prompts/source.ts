/**
 * The prompts of sessions that are gone: lines of `history.jsonl`, which the client keeps when it deletes a session. Only that file
 * is opened, by its name, and the texts that its lines name by a hash. What is restored lies as one document for each session in
 * `prompts`.
 */
import { existsSync, type Stats, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import type { Environment } from "../../platform/host/environment.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { fileOf } from "../shared/folders.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { type Brand, DAY, LIST, PLAIN_ID } from "./brands.ts"
import { linesOfHistory } from "./history.ts"
import { createPastes, type Pastes } from "./pastes.ts"

const HISTORY = "history.jsonl"
const FOLDER = "prompts"
const RESTORED = new RegExp(`^${FOLDER}/(?:[0-9a-f-]{36}|(?:\\d{4}-\\d\\d-\\d\\d|undated)-[0-9a-f]{8})\\.json$`)

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
  const { lines, unread, others } = linesOfHistory(path, stat, brand)
  const issue = { file: HISTORY, found: `unreadable lines: ${unread}` }
  if (unread > 0) units.push({ kind: "unparsable_line", severity: "fault", ...issue })
  if (others > 0 || (lines.size === 0 && unread === 0))
    units.push({
      kind: "unknown_record",
      severity: "note",
      file: HISTORY,
      found: `lines that hold no prompt: ${others}`,
    })
  const pastes = createPastes(root, brand)
  for (const [id, own] of lines)
    if (!kept.has(id)) units.push(unitOfPrompts(root, lineFile(root, stat, id, own, pastes), id, brand))
  if (pastes.gone > 0)
    units.push({ kind: "missing_paste", severity: "note", file: HISTORY, found: `pasted texts gone: ${pastes.gone}` })
  return units
}

function unitOfPrompts(root: string, file: SourceFile, id: string, { client }: Brand): SourceUnit {
  const unit = { key: file.relativePath, root, files: [file] }
  return PLAIN_ID.test(id) ? { ...unit, insteadOf: { id, source_agent: client } } : unit
}

/** Lines of several sessions lie in one file: what tells that one of them grew is a hash of its lines. */
function lineFile(root: string, stat: Stats, id: string, lines: readonly string[], pastes: Pastes): SourceFile {
  const { changedMs: _, ...file } = fileOf(root, `${FOLDER}/${id}.json`, "document", stat)
  const text = pastes.added(lines).join("\n")
  return {
    ...file,
    path: join(root, HISTORY),
    sizeBytes: Buffer.byteLength(text),
    inode: Number(Bun.hash.xxHash64(text) & 0x1fffffffffffffn),
    modifiedMs: 0,
  }
}

/** The document of a session, or of a day of a project: its lines in their order. */
export function assembleOf(brand: Brand): (file: SourceFile) => string | undefined {
  return ({ path, relativePath }) => {
    if (basename(path) !== HISTORY) return undefined
    const id = relativePath.slice(FOLDER.length + 1, -".json".length)
    const lines = linesOfHistory(path, statSync(path), brand).lines.get(id) ?? []
    const list = createPastes(dirname(path), brand).added(lines).join(",")
    const key = PLAIN_ID.test(id) ? brand.session : DAY
    return `{${stringifyJson(key)}:${stringifyJson(id)},${stringifyJson(LIST)}:[${list}]}`
  }
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
