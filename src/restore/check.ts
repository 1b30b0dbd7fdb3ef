/**
 * Before a restore touches a client's directory, what it would write is written elsewhere, found by the client's own
 * source, parsed, and compared with what it is to say. A restore that cannot be read back is never written.
 */
import type { Adapter, Conversation, ForeignTarget, OutputFile, SourceUnit } from "../adapters/adapter.ts"
import type { LossKind } from "../adapters/shared/losses.ts"
import { resolve } from "../adapters/shared/resolve.ts"
import { turnsOf } from "../adapters/shared/turns.ts"
import { PondError } from "../model/errors.ts"
import { differingPointer, isJsonObject, type JsonValue, parseJson, stringifyJson } from "../model/json.ts"
import type { Loss } from "../model/report.ts"
import type { Entry, Session, SessionLog } from "../model/session.ts"
import { flatRows } from "../platform/foreign-sqlite-writer.ts"
import { editsBetween } from "./edits.ts"
import type { RestorePlan } from "./plan.ts"
import { toldBy } from "./told.ts"

export async function checkDraft(plan: RestorePlan, folder: string): Promise<void> {
  const logs = await logsBelow(plan.target, folder)
  const { proof } = plan
  const difference =
    proof.fidelity === "native" ? nativeDifference(plan.target, proof, logs) : foreignDifference(plan, logs)
  if (difference === undefined) return
  throw new PondError(
    "internal",
    `What pond would write of this session does not read back as the session (${difference}). Nothing was written. Please report it.`,
    {
      details: { difference },
    },
  )
}

async function logsBelow(adapter: Adapter, folder: string): Promise<Map<string, SessionLog>> {
  const logs = new Map<string, SessionLog>()
  for await (const unit of adapter.source.plan(folder)) {
    if (!("files" in unit)) continue
    const log = await logOf(adapter, unit)
    if (log !== undefined) logs.set(log.session.id, log)
  }
  return logs
}

async function logOf(adapter: Adapter, unit: SourceUnit): Promise<SessionLog | undefined> {
  const found: { session?: Session } = {}
  const entries: Entry[] = []
  const parser = adapter.parse(unit, {
    session: (session) => {
      found.session = session
    },
    entry: (entry) => entries.push(entry),
    issue: () => undefined,
  })
  for await (const batch of resolve(adapter.source, unit)) for (const record of batch.records) parser.push(record)
  parser.end(true)
  return found.session === undefined ? undefined : { session: found.session, entries }
}

// --- Native: the same records, and the same parts ----------------------------------------------------------------------

type NativeProof = Extract<RestorePlan["proof"], { fidelity: "native" }>

function nativeDifference(
  adapter: Adapter,
  { logs, written }: NativeProof,
  got: ReadonlyMap<string, SessionLog>,
): string | undefined {
  for (const [index, want] of logs.entries()) {
    const log = got.get(want.session.id)
    if (log === undefined) return `the session ${want.session.id} is not found in what was written`
    const [ours, theirs] = [written[index] ?? [], adapter.serialize.native(log).files].map(comparable)
    const at = differingPointer(ours ?? null, theirs ?? null) ?? differingParts(want, log)
    if (at !== undefined) return `${want.session.id} at ${at || "its top"}`
  }
  return undefined
}

/**
 * Rows of a database have no order, and which of them stand inside others is only how they were read: those of a session
 * that grew are stored as they came, and read back table by table.
 */
function comparable(files: readonly OutputFile[]): JsonValue {
  const inOrder = files.map((file) => {
    if (file.form !== "database") return file
    const keyed = [...flatRows(file)].map((row) => ({ row, key: stringifyJson(row as unknown as JsonValue) }))
    return { ...file, rows: keyed.toSorted((left, right) => (left.key < right.key ? -1 : 1)).map(({ row }) => row) }
  })
  return inOrder as unknown as JsonValue
}

/** By id, because a record that was revised reads back as the newer one. */
function differingParts(want: SessionLog, log: SessionLog): string | undefined {
  const byId = new Map(log.entries.map((entry) => [entry.message.id, entry]))
  const revised = revisedIn(want)
  for (const { message, parts } of want.entries) {
    const other = byId.get(message.id)
    if (other === undefined || revised.has(message.id)) continue
    const at = differingPointer(bodies(parts), bodies(other.parts))
    if (at !== undefined) return `message ${message.id}${at}`
  }
  return undefined
}

function revisedIn({ entries }: SessionLog): Set<unknown> {
  return new Set(
    entries.map(({ message }) => (message.options["pond"] as { revision_of?: unknown } | undefined)?.revision_of),
  )
}

function bodies(parts: Entry["parts"]): JsonValue {
  return parts.map(({ options: _, ...body }) => body) as unknown as JsonValue
}

// --- Foreign: the same conversation, but for the losses ------------------------------------------------------------------

/**
 * The session and each of its sub-agents must tell, in the target's own reading, what they told before: the same items in the
 * same order. Each loss that the target's serializer named accounts for one item, gone or become another, and no more.
 */
function foreignDifference(
  { target, proof, sessionId, losses }: RestorePlan,
  got: ReadonlyMap<string, SessionLog>,
): string | undefined {
  if (proof.fidelity !== "foreign") return undefined
  const log = got.get(sessionId)
  if (log === undefined) return `the session ${sessionId} is not found in what was written`
  const { conversation, reasoning } = proof
  const agents = [...got.values()].filter(({ session }) => session.id !== sessionId)
  const telling = { target, reasoning, losses }
  const { missing, allowed, first } = nearest(telling, conversation, [log])
  if (missing > allowed) return `${conversation.session.id}: ${first}`
  const lost = unheld(telling, conversation, agents)
  const named = losses.filter(({ kind }) => kind === "subagent").length
  return lost.length > named ? `the sub-agent ${lost.join(", ")}` : undefined
}

interface Telling {
  readonly target: Adapter
  readonly reasoning: ForeignTarget["reasoning"]
  readonly losses: readonly Loss[]
}

/** Sub-agents that are nowhere in what was written. What such a one started is lost with it. */
function unheld(telling: Telling, { children }: Conversation, agents: readonly SessionLog[]): string[] {
  return children.flatMap((child) => {
    const { missing, allowed, first } = nearest(telling, child, agents)
    return missing > allowed ? [`${child.session.id}: ${first}`] : unheld(telling, child, agents)
  })
}

function nearest(telling: Telling, conversation: Conversation, logs: readonly SessionLog[]) {
  const { target, reasoning } = telling
  const wanted = toldBy(conversation, target.id, reasoning)
  const allowed = ownLosses(telling, conversation)
  const [best = { missing: Number.POSITIVE_INFINITY, first: "is not found in what was written" }] = logs
    .map((log) => differenceOf(wanted, toldBy(backOf(log, target), target.id, "keep"), allowed))
    .sort((one, other) => one.missing - other.missing)
  return { ...best, allowed }
}

/** Losses that take away nothing that was said or done. */
const ITEMLESS: ReadonlySet<string> = new Set<LossKind>(["missing_history", "failure_mark", "model_settings"])

/** What the turns leave out already is missing on both sides. */
function ownLosses({ target, reasoning, losses }: Telling, conversation: Conversation): number {
  const own = new Set(conversation.entries.map(({ message }) => message.id))
  const said = losses.filter(({ kind, messageId }) => !ITEMLESS.has(kind) && own.has(messageId ?? "")).length
  return said - turnsOf(conversation, target.id, reasoning).losses.length
}

function backOf(log: SessionLog, target: Adapter): Conversation {
  return { session: log.session, entries: target.context(log, []), children: [] }
}

interface Difference {
  /** How many items are not there any more; Infinity, where more was said than there was. */
  readonly missing: number
  readonly first: string
}

/** A loss may put one item in the place of another, and adds none. */
function differenceOf(want: readonly string[], have: readonly string[], allowed: number): Difference {
  const firstAt = want.findIndex((item, index) => !holds(item, have[index] ?? ""))
  if (firstAt < 0 && have.length === want.length) return { missing: 0, first: "" }
  const at = firstAt < 0 ? want.length : firstAt
  const first = `${excerpt(want[at])} became ${excerpt(have[at])}`
  const edits = editsBetween(want, have, 2 * allowed, holds)
  const missing = (edits + want.length - have.length) / 2
  const added = edits - missing
  return { missing: added > missing ? Number.POSITIVE_INFINITY : missing, first }
}

/** A tool of the target may insist on more than the call was given: what was given must all be there. */
function holds(want: string, have: string): boolean {
  if (want === have) return true
  const [ours, theirs] = [CALL.exec(want), CALL.exec(have)]
  if (ours === null || theirs === null || ours[1] !== theirs[1]) return false
  const [given, said] = [ours, theirs].map(([, , params = ""]) => parseJson(params))
  if (!(given?.ok && said?.ok && isJsonObject(given.value) && isJsonObject(said.value))) return false
  const all = said.value
  return Object.entries(given.value).every(([key, value]) => differingPointer(value, all[key] ?? null) === undefined)
}

const CALL = /^call: (\S+) (\{.*\})$/s

function excerpt(item: string | undefined): string {
  return item === undefined ? "nothing" : item.slice(0, 120)
}
