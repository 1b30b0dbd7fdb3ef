/**
 * The fixtures of every adapter: `fixtures/<adapter>/<scenario>/`. `fixture.json` says what it is for, which client it
 * comes from and which issues it has; `root/` is a tree as it lies below a root of that client; `expected.json`, where
 * there is one, has what the client sent to its model when the session went on (made with the client itself).
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Adapter, Conversation, ParseEnd, RawRecord, ResumePoint, SourceUnit } from "../../src/adapters/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { resolve } from "../../src/adapters/shared/resolve.ts"
import { fromSource } from "../../src/adapters/source-value.ts"
import { parseJson, stringifyJson } from "../../src/model/json.ts"
import type { Issue } from "../../src/model/report.ts"
import type { Entry, Session, SessionLog } from "../../src/model/session.ts"
import { withoutSuperseded } from "../../src/model/superseded.ts"
import { lazy } from "../../src/platform/lazy.ts"
import { foreignFiles } from "../../src/restore/output-files.ts"
import { frozen } from "./purity.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")

export interface Fixture {
  readonly name: string
  readonly root: string
  readonly intent: string
  readonly client: string
  /** How often each kind of issue is found in it. Absent: none is. */
  readonly issues: Readonly<Record<string, number>>
  readonly expected: Readonly<Record<string, readonly WireItem[]>>
}

/** One item of the conversation as the client sent it. */
export interface WireItem {
  readonly role: "user" | "assistant" | "call" | "result"
  readonly text?: string
  readonly id?: string
  readonly name?: string
  readonly args?: string
  readonly images?: number
  readonly isError?: boolean
}

export function fixturesOf(adapter: Adapter): Fixture[] {
  const folder = join(FIXTURES, adapter.id)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .toSorted()
    .map((name) => {
      const read = (file: string) => JSON.parse(readFileSync(join(folder, name, file), "utf8"))
      const { intent, client, issues = {} } = read("fixture.json")
      const expected = existsSync(join(folder, name, "expected.json")) ? read("expected.json") : {}
      return { name, root: join(folder, name, "root"), intent, client, issues, expected }
    })
}

// --- Reading ----------------------------------------------------------------------------------------------------------

export interface ReadUnit {
  readonly unit: SourceUnit
  readonly records: readonly RawRecord[]
  readonly issues: readonly Issue[]
}

export async function unitsOf(adapter: Adapter, root: string): Promise<ReadUnit[]> {
  const units: ReadUnit[] = []
  for await (const unit of adapter.source.plan(root)) {
    if (!("files" in unit)) throw new Error(`${root}: ${unit.kind} ${unit.found}`)
    const records: RawRecord[] = []
    const issues: Issue[] = []
    for await (const batch of resolve(adapter, unit)) {
      records.push(...batch.records)
      issues.push(...batch.issues)
    }
    units.push({ unit, records, issues })
  }
  return units
}

export interface ParsedUnit {
  readonly session: Session | undefined
  readonly entries: readonly Entry[]
  readonly issues: readonly Issue[]
  readonly end: ParseEnd
  /** What the sink was given, in order. */
  readonly order: readonly ("session" | "entry")[]
}

interface ParseOptions {
  readonly resume?: ResumePoint
  readonly isSettled?: boolean
  /** Behind each line of a log whose session has begun, for what it would go on with. */
  readonly isAsked?: boolean
}

export function parseUnit(
  adapter: Adapter,
  unit: SourceUnit,
  records: readonly RawRecord[],
  { resume, isSettled = false, isAsked = false }: ParseOptions = {},
): ParsedUnit {
  let session = resume?.session
  const entries: Entry[] = []
  const issues: Issue[] = []
  const order: ("session" | "entry")[] = []
  const sink = {
    session: (begun: Session) => {
      session = begun
      order.push("session")
    },
    entry: (entry: Entry) => {
      entries.push(entry)
      order.push("entry")
    },
    issue: (issue: Issue) => {
      issues.push(issue)
    },
  }
  const parser = adapter.parse(unit, sink, resume)
  for (const raw of records) {
    parser.push(fresh(raw))
    if (isAsked && raw.form === "log" && session !== undefined) parser.end(false)
  }
  return { end: parser.end(isSettled), session, entries, issues, order }
}

/** Is written by the codec of Claude Code to another place: what holds of the one holds of the other. */
const SAME_CODEC = new Set(["xcode-claude"])

/** Clients that a conversation can be restored into. Of the others pond only reads what they wrote. */
export const foreignTargets = lazy((): readonly Adapter[] => {
  const session = {
    ...{ id: "s", source_agent: "none", created_at: "2026-01-01T00:00:00.000Z", project: "/projects", options: {} },
  }
  const common = { session_id: "s", message_id: "m", provenance: "conversational", options: {} } as const
  const message = {
    id: "m",
    session_id: "s",
    ordinal: 0,
    timestamp: session.created_at,
    options: {},
    role: "user",
  } as const
  const entries = [{ message, parts: [{ ...common, id: "p", type: "text", text: "hello" } as const] }]
  const target = { cwd: "/projects", reasoning: "keep" } as const
  const told = { session, entries, children: [] }
  return ADAPTERS.filter((each) => !SAME_CODEC.has(each.id) && foreignFiles(each, told, target).files.length > 0)
})

/**
 * The clients that sessions of a source are told to in tests. What holds of a pair is mostly about the target: of a product that
 * opens nothing itself one target of each kind is enough, a log with a tree, one without, a database.
 */
export function targetsOf(source: Adapter): readonly Adapter[] {
  const all = foreignTargets()
  if (source.serialize.foreign !== undefined) return all
  return all.filter(({ id }) => ["claude-code", "codex", "opencode"].includes(id))
}

/** A row belongs to the parser that it is handed to, which takes values out of it. */
export function fresh(raw: RawRecord): RawRecord {
  if (raw.form !== "row") return raw
  const row = parseJson(stringifyJson(raw.row))
  return row.ok ? { ...raw, row: fromSource(row.value) } : raw
}

/** Every session of a tree, by id. */
export async function logsOf(adapter: Adapter, root: string): Promise<Map<string, SessionLog>> {
  const logs = new Map<string, SessionLog>()
  for (const { unit, records } of await unitsOf(adapter, root)) {
    const { session, entries } = parseUnit(adapter, unit, records)
    if (session !== undefined) logs.set(session.id, { session, entries })
  }
  return logs
}

const fixtureLogsRead = new Map<string, Promise<Map<string, SessionLog>>>()

/** The same of a fixture, read once for all who want it: it is frozen, because nobody may change it. */
export function fixtureLogs(adapter: Adapter, root: string): Promise<Map<string, SessionLog>> {
  const known =
    fixtureLogsRead.get(root) ??
    logsOf(adapter, root).then((logs) => new Map([...logs].map(([id, log]) => [id, frozen(log)])))
  fixtureLogsRead.set(root, known)
  return known
}

/** A session as another client needs to know it, with its sub-agents. */
export function conversationOf(adapter: Adapter, logs: ReadonlyMap<string, SessionLog>, id: string): Conversation {
  const log = logs.get(id)
  if (log === undefined) throw new Error(`no session ${id}`)
  const children = [...logs.values()].filter(
    ({ session }) => session.parent_session_id === id && session.source_agent.includes("/"),
  )
  return {
    session: log.session,
    entries: adapter.context(withoutSuperseded(log), ancestorsOf(logs, log).map(withoutSuperseded)),
    children: children.map(({ session }) => conversationOf(adapter, logs, session.id)),
    origin: adapter,
  }
}

function ancestorsOf(logs: ReadonlyMap<string, SessionLog>, log: SessionLog): SessionLog[] {
  const ancestors: SessionLog[] = []
  const met = new Set([log.session.id])
  for (let parent = log.session.parent_session_id; parent !== undefined && !met.has(parent); ) {
    met.add(parent)
    const found = logs.get(parent)
    if (found === undefined) break
    ancestors.push(found)
    parent = found.session.parent_session_id
  }
  return ancestors
}
