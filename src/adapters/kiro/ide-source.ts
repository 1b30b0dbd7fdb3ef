/**
 * Where Kiro's editor keeps sessions: chats of 2025 one for each run, then a document for each session with the runs beside it,
 * and since 2026 a log. Settings of the editor lie above, and are never looked at.
 */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder } from "../shared/folders.ts"
import { ideRoots } from "./roots.ts"

export const ideSource: Source = { roots: ideRoots, plan: planIde }

const DOCUMENTS = "workspace-sessions"
const LOGS = "sessions"
const HASH = /^[\da-f]{32}$/
const CHAT = /^[\da-f]{32}\.chat$/
const SESSION = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.json$/
const LOG_FOLDER = /^sess_[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
/** The folder of a workspace's runs: the same on every machine. */
const RUNS = "414d1636299d2b9e4ce7e17fb11f63e9"

export function ideConcerns(_root: string, place: string): boolean {
  return /^(?:workspace-sessions(?:\/|$)|sessions(?:\/|$)|[\da-f]{32}(?:\/|$))/.test(place)
}

function* planIde(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  for (const entry of disk.entries(""))
    if (isFolder(entry) && HASH.test(entry.name)) yield* filesIn(disk, entry.name, CHAT)
  for (const entry of disk.entries(DOCUMENTS))
    if (isFolder(entry)) yield* filesIn(disk, below(DOCUMENTS, entry.name), SESSION)
  for (const workspace of disk.entries(LOGS))
    for (const session of isFolder(workspace) ? disk.entries(below(LOGS, workspace.name)) : [])
      if (LOG_FOLDER.test(session.name)) yield* logIn(disk, below(below(LOGS, workspace.name), session.name))
  yield* disk.issues
}

function* filesIn(disk: Folders, folder: string, names: RegExp): Generator<SourceUnit> {
  for (const { name } of disk.entries(folder)) {
    const file = names.test(name) ? disk.file(below(folder, name), "document") : undefined
    if (file !== undefined) yield { key: file.relativePath, root: disk.root, files: [file] }
  }
}

function* logIn(disk: Folders, folder: string): Generator<SourceUnit> {
  const [log, header] = ["messages.jsonl", "session.json"].map((name) => below(folder, name)) as [string, string]
  const file = disk.stat(log) === undefined ? undefined : disk.file(log, "log")
  const beside = disk.stat(header) === undefined ? undefined : disk.file(header, "document")
  if (file !== undefined) yield { key: log, root: disk.root, files: beside === undefined ? [file] : [file, beside] }
}

/** A session has what was asked and in which run it was answered; what the run said and did stands in a separate file. */
export function ideAssemble({ path, relativePath }: SourceFile): string | undefined {
  if (!relativePath.startsWith(`${DOCUMENTS}/`)) return undefined
  const text = fileText(path)
  const parsed = parseJson(text)
  const session = parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined
  const folder = session?.["workspaceDirectory"]
  const history = session?.["history"]
  if (session === undefined || typeof folder !== "string" || !Array.isArray(history)) return text
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 32)
  const runs = runsIn(`${dirname(dirname(dirname(path)))}/${name}/${RUNS}`, history as readonly JsonValue[])
  const entries = (history as readonly JsonValue[]).map((entry) => {
    const run = isJsonObject(entry) ? runs.get(entry["executionId"]) : undefined
    return isJsonObject(entry) && run !== undefined && entry["execution"] === undefined
      ? { ...entry, execution: run }
      : entry
  })
  return stringifyJson({ ...session, history: entries })
}

/** The runs that a session names. Their files have names of their own making: each says in itself which run it is. */
function runsIn(folder: string, history: readonly JsonValue[]): ReadonlyMap<JsonValue | undefined, JsonObject> {
  const wanted = new Set(history.flatMap((entry) => (isJsonObject(entry) ? (entry["executionId"] ?? []) : [])))
  const runs = new Map<JsonValue | undefined, JsonObject>()
  for (const name of wanted.size === 0 ? [] : runNames(folder)) {
    const parsed = parseJson(fileText(`${folder}/${name}`))
    const run = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
    if (wanted.has(run["executionId"] ?? null)) runs.set(run["executionId"], run)
  }
  return runs
}

function runNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith("."))
  } catch (error) {
    if (isSystemError(error)) return []
    throw error
  }
}

function fileText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (isSystemError(error)) return ""
    throw error
  }
}
