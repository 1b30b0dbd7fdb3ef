/** Sessions of Claude Code for tests: written to a folder, planned, resolved and parsed as pond does it. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { OutputFile, SourceUnit } from "../../../src/adapters/adapter.ts"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import { differingPointer, parseJson } from "../../../src/model/json.ts"
import type { Issue } from "../../../src/model/report.ts"
import type { Entry, Session, SessionLog } from "../../../src/model/session.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"

/** A file's place, and its text or the records of a log. */
export type Tree = Readonly<Record<string, string | readonly unknown[]>>

export interface Parsed extends SessionLog {
  readonly unit: SourceUnit
  readonly issues: readonly Issue[]
  readonly clientVersions: readonly string[]
}

export interface Planned {
  readonly units: readonly SourceUnit[]
  readonly issues: readonly Issue[]
}

export async function withTree<T>(tree: Tree, use: (root: string) => Promise<T>): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), "pond-claude-code-"))
  try {
    for (const [place, content] of Object.entries(tree)) {
      const text =
        typeof content === "string" ? content : content.map((record) => `${JSON.stringify(record)}\n`).join("")
      await Bun.write(join(root, place), text)
    }
    return await use(root)
  } finally {
    await rm(root, { recursive: true })
  }
}

export async function planned(root: string): Promise<Planned> {
  const units: SourceUnit[] = []
  const issues: Issue[] = []
  for await (const found of claudeCode.source.plan(root)) {
    if ("kind" in found) issues.push(found)
    else units.push(found)
  }
  return { units, issues }
}

export async function parsedUnit(unit: SourceUnit): Promise<Parsed> {
  let session: Session | undefined
  const entries: Entry[] = []
  const issues: Issue[] = []
  const parser = claudeCode.parse(unit, {
    session: (found) => {
      session = found
    },
    entry: (entry) => entries.push(entry),
    issue: (issue) => issues.push(issue),
  })
  for await (const batch of resolve(claudeCode, unit)) for (const raw of batch.records) parser.push(raw)
  const { clientVersions } = parser.end(true)
  if (session === undefined) throw new Error(`no session in ${unit.key}`)
  return { unit, session, entries, issues, clientVersions }
}

/** All sessions of a tree, by id. */
export async function parsed(tree: Tree): Promise<Map<string, Parsed>> {
  return withTree(tree, parsedRoot)
}

export async function parsedRoot(root: string): Promise<Map<string, Parsed>> {
  const sessions = new Map<string, Parsed>()
  for (const unit of (await planned(root)).units) {
    const session = await parsedUnit(unit)
    sessions.set(session.session.id, session)
  }
  return sessions
}

/** The only session of a log with these records. */
export async function parsedRecords(records: readonly unknown[] | string): Promise<Parsed> {
  const [only] = await parsed({ [`projects/-work/${SESSION}.jsonl`]: records }).then((sessions) => sessions.values())
  if (only === undefined) throw new Error("no session")
  return only
}

export const SESSION = "0b5f1e9c-7c55-4a0e-9d2e-1f6a3c9b7d10"

/** A session as a store would give it back. */
function stored(log: SessionLog): SessionLog {
  return JSON.parse(JSON.stringify({ session: log.session, entries: log.entries })) as SessionLog
}

function outputText(file: OutputFile | undefined): string {
  if (file?.form === "log") return Array.from(file.lines, (line) => `${String(line)}\n`).join("")
  return file !== undefined && "text" in file ? file.text : ""
}

/** Where the files that a native restore gives differ from those that were read: nothing, if all is well. */
export async function nativeDifferences(root: string): Promise<string[]> {
  const found: string[] = []
  for (const { unit, ...log } of (await parsedRoot(root)).values()) {
    const files = new Map(nativeFiles(claudeCode, stored(log)).map((file) => [file.relativePath, file]))
    for (const { path, relativePath: place, form } of unit.files) {
      const want = await Bun.file(path).text()
      const got = outputText(files.get(place))
      if (form === "log") found.push(...differingLines(place, want, got))
      else if (form === "document") found.push(...differingLines(place, JSON.stringify(JSON.parse(want)), got))
      else if (want !== got) found.push(place)
    }
  }
  return found
}

function differingLines(place: string, want: string, got: string): string[] {
  const wanted = want.replace(/\r?\n$/, "").split(/\r?\n/)
  const gotten = got.replace(/\n$/, "").split("\n")
  if (wanted.length !== gotten.length) return [`${place}: ${wanted.length} records, not ${gotten.length}`]
  return wanted.flatMap((line, index) => {
    const ours = parseJson(line)
    const theirs = parseJson(gotten[index] ?? "")
    if (!ours.ok || !theirs.ok) return line === gotten[index] ? [] : [`${place}:${index + 1}: another text`]
    const pointer = differingPointer(ours.value, theirs.value)
    return pointer === undefined ? [] : [`${place}:${index + 1}: ${pointer}`]
  })
}
