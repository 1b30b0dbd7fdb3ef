/**
 * Before a restore touches a client's directory, what it would write is written elsewhere, found by the client's own
 * source, parsed, and compared with what it is to say. A restore that cannot be read back is never written.
 */
import type { Adapter, Conversation, SourceUnit } from "../adapters/adapter.ts"
import { resolve } from "../adapters/shared/resolve.ts"
import { type Turn, turnsOf } from "../adapters/shared/turns.ts"
import { PondError } from "../model/errors.ts"
import { differingPointer, type JsonValue } from "../model/json.ts"
import type { Entry, Session, SessionLog } from "../model/session.ts"
import type { RestorePlan } from "./plan.ts"

export async function checkDraft(plan: RestorePlan, folder: string): Promise<void> {
  const logs = await logsBelow(plan.target, folder)
  const { proof } = plan
  const difference =
    proof.fidelity === "native" ? nativeDifference(plan.target, proof.logs, logs) : foreignDifference(plan, logs)
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

function nativeDifference(
  adapter: Adapter,
  wanted: readonly SessionLog[],
  got: ReadonlyMap<string, SessionLog>,
): string | undefined {
  for (const want of wanted) {
    const log = got.get(want.session.id)
    if (log === undefined) return `the session ${want.session.id} is not found in what was written`
    const [ours, theirs] = [want, log].map((each) => adapter.serialize.native(each).files as unknown as JsonValue)
    const at = differingPointer(ours ?? null, theirs ?? null) ?? differingParts(want, log)
    if (at !== undefined) return `${want.session.id} at ${at || "its top"}`
  }
  return undefined
}

/** By id, because a record that was revised reads back as the newer one. */
function differingParts(want: SessionLog, log: SessionLog): string | undefined {
  const byId = new Map(log.entries.map((entry) => [entry.message.id, entry]))
  for (const { message, parts } of want.entries) {
    const other = byId.get(message.id)
    if (other === undefined || isRevised(want, message.id)) continue
    const at = differingPointer(bodies(parts), bodies(other.parts))
    if (at !== undefined) return `message ${message.id}${at}`
  }
  return undefined
}

function isRevised({ entries }: SessionLog, id: string): boolean {
  return entries.some(
    ({ message }) => (message.options["pond"] as { revision_of?: unknown } | undefined)?.revision_of === id,
  )
}

function bodies(parts: Entry["parts"]): JsonValue {
  return parts.map(({ options: _, ...body }) => body) as unknown as JsonValue
}

// --- Foreign: the same conversation, but for the losses ------------------------------------------------------------------

function foreignDifference(
  { target, proof, sessionId, losses }: RestorePlan,
  got: ReadonlyMap<string, SessionLog>,
): string | undefined {
  if (proof.fidelity !== "foreign") return undefined
  const log = got.get(sessionId)
  if (log === undefined) return `the session ${sessionId} is not found in what was written`
  const back: Conversation = { session: log.session, entries: target.context(log, []), children: [] }
  const want = itemsOf(turnsOf(proof.conversation, target.id, proof.reasoning).turns)
  const have = itemsOf(turnsOf(back, target.id, proof.reasoning).turns)
  const missing = missingItems(want, have)
  // Each loss was shown; whatever else is missing was lost by mistake.
  return missing.length > losses.length
    ? `${missing.length} pieces are missing, the first is ${missing[0]?.slice(0, 80)}`
    : undefined
}

/** What was said and done, in order. White space at the ends is the writer's own. */
function itemsOf(turns: readonly Turn[]): string[] {
  return turns.flatMap((turn) =>
    turn.blocks.flatMap((block) => {
      if (block.type === "text") return block.text.trim() === "" ? [] : [`${turn.role}: ${block.text.trim()}`]
      if (block.type !== "call") return []
      const result = block.result?.content.map((piece) => ("text" in piece ? piece.text : "")).join("\n") ?? ""
      return [`call ${block.name}: ${result.trim()}`]
    }),
  )
}

/** In order: what is found later than what came before it. */
function missingItems(want: readonly string[], have: readonly string[]): string[] {
  const missing: string[] = []
  let from = 0
  for (const item of want) {
    const at = have.findIndex((other, index) => index >= from && (other === item || other.includes(item)))
    if (at < 0) missing.push(item)
    else from = have[at] === item ? at + 1 : at
  }
  return missing
}
