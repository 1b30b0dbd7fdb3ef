/** Threads of Codex for tests: read from a fixture or from records, planned, resolved and parsed as pond does it. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SourceUnit } from "../../../src/adapters/adapter.ts"
import { codex } from "../../../src/adapters/codex/adapter.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import { type JsonValue, parseJson, stringifyJson } from "../../../src/model/json.ts"
import type { Issue } from "../../../src/model/report.ts"
import type { Entry, Part, Session, SessionLog } from "../../../src/model/session.ts"

export interface Thread extends SessionLog {
  readonly unit: SourceUnit
  readonly issues: readonly Issue[]
  readonly clientVersions: readonly string[]
}

export function fixture(name: string): string {
  return join(import.meta.dir, "../../../fixtures/codex", name, "root")
}

export async function planned(root: string): Promise<{ units: SourceUnit[]; issues: Issue[] }> {
  const units: SourceUnit[] = []
  const issues: Issue[] = []
  for await (const found of codex.source.plan(root)) {
    if ("kind" in found) issues.push(found)
    else units.push(found)
  }
  return { units, issues }
}

async function threadOf(unit: SourceUnit): Promise<Thread> {
  const found: { session?: Session } = {}
  const entries: Entry[] = []
  const issues: Issue[] = []
  const parser = codex.parse(unit, {
    session: (session) => {
      found.session = session
    },
    entry: (entry) => entries.push(entry),
    issue: (issue) => issues.push(issue),
  })
  for await (const batch of resolve(codex, unit)) for (const raw of batch.records) parser.push(raw)
  const { clientVersions } = parser.end(true)
  if (found.session === undefined) throw new Error(`no session in ${unit.key}`)
  return { unit, session: found.session, entries, issues, clientVersions }
}

/** All threads below a root, by id, in the order of the plan. */
export async function threadsBelow(root: string): Promise<Map<string, Thread>> {
  const threads = new Map<string, Thread>()
  for (const unit of (await planned(root)).units) {
    const thread = await threadOf(unit)
    threads.set(thread.session.id, thread)
  }
  return threads
}

/** A thread as a store would give it back. */
export function stored({ session, entries }: SessionLog): SessionLog {
  const parsed = parseJson(stringifyJson({ session, entries } as unknown as JsonValue))
  if (!parsed.ok) throw new Error(parsed.reason)
  return parsed.value as unknown as SessionLog
}

/** Files by their place: text, or the records of a log. */
export type Tree = Readonly<Record<string, string | readonly unknown[]>>

export async function withTree<T>(tree: Tree, use: (root: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), "pond-codex-"))
  try {
    for (const [place, content] of Object.entries(tree)) {
      const lines =
        typeof content === "string" ? content : content.map((record) => `${JSON.stringify(record)}\n`).join("")
      await Bun.write(join(root, place), lines)
    }
    return await use(root)
  } finally {
    rmSync(root, { recursive: true })
  }
}

export const THREAD = "019c0000-0000-7000-8000-000000000001"
export const CWD = "/projects/alpha"

const MOMENT = "2026-02-01T10:00:00.000Z"
export const PLACE = `sessions/2026/02/01/rollout-2026-02-01T10-00-00-${THREAD}.jsonl`

export function line(type: string, payload: unknown, more: Record<string, unknown> = {}): unknown {
  return { timestamp: MOMENT, ...more, type, payload }
}

export function header(more: Record<string, unknown> = {}): unknown {
  return line("session_meta", {
    id: THREAD,
    timestamp: MOMENT,
    cwd: CWD,
    cli_version: "0.128.0",
    source: "cli",
    ...more,
  })
}

export function item(payload: unknown): unknown {
  return line("response_item", payload)
}

export function userItem(...texts: readonly string[]): unknown {
  return item({ type: "message", role: "user", content: texts.map((text) => ({ type: "input_text", text })) })
}

/** The only thread of one rollout with these records behind its header. */
export function threadWith(...records: readonly unknown[]): Promise<Thread> {
  return withTree({ [PLACE]: [header(), ...records] }, async (root) => {
    const [thread] = (await threadsBelow(root)).values()
    if (thread === undefined) throw new Error("no thread")
    return thread
  })
}

/** What a part is, in one line: what was injected stands in brackets behind its kind. */
function shown(part: Part): string {
  const { injected } = (part.options["pond"] ?? {}) as { injected?: string }
  if (part.type === "text") return part.provenance === "injected" ? `[${injected}] ${part.text}` : part.text
  if (part.type === "reasoning") return `(${part.text})`
  if (part.type === "tool_call") return `${part.name}(${JSON.stringify(part.params)})`
  if (part.type === "tool_result") return `=> ${part.is_failure ? "failed: " : ""}${JSON.stringify(part.result)}`
  if (part.type === "file") return `<${part.media_type} ${part.file_name ?? ""}>`
  return `{${part.type === "opaque" ? part.kind : part.type}}`
}

/** The parts of all messages that have some, each with its role. */
export function said(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ message, parts }) => parts.map((part) => `${message.role}: ${shown(part)}`))
}
