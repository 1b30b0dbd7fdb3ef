/**
 * Erases sessions, takes that back, lists what is erased, and purges. What would be erased is worked out first, the same
 * way whether it is then done or only shown.
 */
import { PondError } from "../../model/errors.ts"
import { textOfMicros } from "../../model/timestamp.ts"
import { newestSessions } from "../../search/newest-sessions.ts"
import { agentFilter, projectFilter } from "../../search/scope-filter.ts"
import type { ErasedWith } from "../../sessions/erase/closure.ts"
import type { Tombstone } from "../../sessions/erase/erasure.ts"
import type { Sessions } from "../../sessions/store.ts"
import { and, type Filter } from "../../substrate/filter.ts"
import type { RunContext } from "../operation.ts"
import type { Pond } from "../pond.ts"
import { exactlyOne } from "../wire/project-filter.ts"
import { asksSessions, messageFilter, passing, type SessionFilters } from "../wire/session-filters.ts"
import { titleText } from "../wire/views.ts"
import type { EraseHooks, EraseInput, EraseOutput } from "./erase-shapes.ts"
import { fullSessionId } from "./session-ids.ts"

type Erased = EraseOutput["sessions"][number]

export async function eraseSessions(context: RunContext & EraseHooks, input: EraseInput): Promise<EraseOutput> {
  const sessions = await context.pond.sessions()
  if (input.list === true) return listErased(await sessions.erasure.tombstones())
  if (input.undo === true) return await undo(sessions, input)
  const plan = await planErasure(context, sessions, input)
  const isAgreed = async () => {
    if (plan.sessions.length === 0 && plan.waiting === 0) return false
    return input.yes === true || (await context.confirm?.({ ...plan, is_purge: input.purge === true })) === true
  }
  if (input.dry_run === true || !(await isAgreed())) return plan
  await sessions.erasure.erase(
    plan.sessions.map(({ session_id: id, why, because }) => ({ id, why, because: because ?? undefined })),
  )
  const done = {
    ...plan,
    action: "erase" as const,
    sessions: plan.sessions.map((each) => ({ ...each, state: "erased" as const })),
  }
  return input.purge === true ? await purge(context, sessions, done) : done
}

// --- What ------------------------------------------------------------------------------------------------------------

async function planErasure({ pond, signal }: RunContext, sessions: Sessions, input: EraseInput): Promise<EraseOutput> {
  const { session = [], filters, purge: isPurge = false } = input
  const isFiltered = filters !== undefined && Object.keys(filters).length > 0
  const isNamed = session.length > 0 || isFiltered || input.secrets === true
  if (!isNamed && !isPurge)
    throw new PondError(
      "validation_failed",
      "Name what to erase: the ids of sessions, or filters such as --project. `pond list` shows sessions.",
    )
  const named = await namedSessions(sessions, session)
  const filtered = isFiltered ? await matching(pond, sessions, filters, signal) : []
  const found = input.secrets === true ? await withSecrets(pond, isFiltered ? filtered : undefined, signal) : filtered
  const asked = [...new Set([...named, ...found])]
  const closure = asked.length === 0 ? [] : await sessions.erasure.closure(asked)
  const ids = closure.map(({ id }) => id)
  const size = await sessions.erasure.size(ids)
  const waiting = isPurge ? (await sessions.erasure.tombstones()).filter(({ state }) => state !== "purged").length : 0
  return {
    action: "plan",
    sessions: await describeClosure(sessions, closure),
    messages: size.messages,
    parts: size.parts,
    vectors: size.vectors,
    attachments: size.attachments.length,
    shared_attachments: isPurge ? (await sessions.erasure.sharedAttachments(size.attachments, ids)).size : null,
    waiting,
    purged: null,
  }
}

async function namedSessions(sessions: Sessions, given: readonly string[]): Promise<readonly string[]> {
  const ids = await Promise.all(given.map((id) => fullSessionId(sessions, id)))
  const stored = new Set((await sessions.owners(ids)).map(({ id }) => id))
  const erased = new Set((await sessions.erasure.tombstones()).map(({ id }) => id))
  for (const id of ids) {
    if (stored.has(id)) continue
    const why = erased.has(id)
      ? `The session ${id} was already erased. \`pond erase --list\` shows it.`
      : `No session ${id}. \`pond list\` shows what is stored.`
    throw new PondError("not_found", why, { details: { session_id: id } })
  }
  return ids
}

/** The sessions of a list with these filters, all of its pages, and those in which nobody said anything. */
async function matching(
  pond: Pond,
  sessions: Sessions,
  filters: SessionFilters,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { clock } = pond.host
  const found = new Set<string>()
  const where = await messageFilter(sessions, { ...filters, include_subagents: true }, clock.nowMs())
  for await (const batch of newestSessions(sessions, clock, { where })) {
    signal.throwIfAborted()
    const ids = batch.map(({ id }) => id)
    for (const id of await passing(sessions, ids, filters)) found.add(id)
  }
  if (asksSessions(filters) || filters.from_date !== undefined || filters.to_date !== undefined) return [...found]
  for await (const rows of sessions.scan("sessions", { columns: ["id"], where: await ownFilter(sessions, filters) }))
    for (const { id } of rows) found.add(id)
  return [...found]
}

async function withSecrets(pond: Pond, among: readonly string[] | undefined, signal: AbortSignal) {
  const { findSecrets } = await import("./secrets.ts")
  const { findings } = await findSecrets(pond, {}, signal)
  const allowed = among && new Set(among)
  return findings.flatMap(({ session_id: id }) => (allowed?.has(id) === false ? [] : id))
}

async function ownFilter(sessions: Sessions, { project, source_agent: agent }: SessionFilters): Promise<Filter> {
  return and(
    ...(project === undefined ? [] : [await projectFilter(sessions, exactlyOne(project))]),
    ...(agent === undefined ? [] : [agentFilter(agent, true)]),
  )
}

async function describeClosure(sessions: Sessions, closure: readonly ErasedWith[]): Promise<Erased[]> {
  const ids = closure.map(({ id }) => id)
  const found = new Map((await sessions.sessions(ids)).map((each) => [each.id, each]))
  const words = await sessions.firstWords(ids.filter((id) => found.get(id)?.title === undefined))
  return closure.map(({ id, why, because = null }) => {
    const session = found.get(id)
    return {
      session_id: id,
      why,
      because,
      state: "stored",
      title: titleText(session?.title ?? words.get(id)) ?? null,
      source_agent: session?.source_agent ?? null,
      project: session?.project ?? null,
      created_at: session?.created_at ?? null,
      erased_at: null,
      host: null,
    }
  })
}

// --- Then ------------------------------------------------------------------------------------------------------------

async function purge(
  { pond, signal, onTable = () => undefined }: RunContext & EraseHooks,
  sessions: Sessions,
  done: EraseOutput,
): Promise<EraseOutput> {
  const { clock } = pond.host
  const beganMs = clock.monotonicMs()
  const { sessions: ids, removed } = await sessions.erasure.purge({ onTable })
  for (const table of await sessions.written()) {
    if (signal.aborted) break
    onTable(`index ${table.name}`)
    await table.maintain("due")
  }
  const gone = new Set(ids)
  return {
    ...done,
    sessions: done.sessions.map((each) => (gone.has(each.session_id) ? { ...each, state: "purged" } : each)),
    purged: { sessions: ids.length, removed, ms: Math.round(clock.monotonicMs() - beganMs) },
  }
}

const NO_ROWS = {
  messages: 0,
  parts: 0,
  vectors: 0,
  attachments: 0,
  shared_attachments: null,
  waiting: 0,
  purged: null,
}

async function undo(sessions: Sessions, { session = [] }: EraseInput): Promise<EraseOutput> {
  if (session.length === 0)
    throw new PondError(
      "validation_failed",
      "Name the sessions to bring back: `pond erase --list` shows what is erased.",
    )
  const known = await sessions.erasure.tombstones()
  const ids = session.map((given) => {
    const starting = known.filter(({ id }) => id === given || id.startsWith(given))
    const [found, ...others] = starting
      .filter(({ id }) => id === given)
      .concat(starting)
      .slice(0, 2)
    const isOne = found !== undefined && (found.id === given || others.length === 0)
    if (isOne) return found.id
    const why = found === undefined ? `No erased session ${given}.` : `The id ${given} is ambiguous.`
    throw new PondError("not_found", `${why} \`pond erase --list\` shows what is erased.`, {
      details: { session_id: given },
    })
  })
  const lifted = await sessions.erasure.lift(ids)
  return { ...NO_ROWS, action: "undo", sessions: lifted.map(tombstoneRow) }
}

function listErased(tombstones: readonly Tombstone[]): EraseOutput {
  return { ...NO_ROWS, action: "list", sessions: tombstones.map(tombstoneRow) }
}

function tombstoneRow({ id, state, because, notedAtMicros, host }: Tombstone): Erased {
  const why = because === null ? "asked" : "child"
  const unknown = { title: null, source_agent: null, project: null, created_at: null }
  return { session_id: id, why, because, state, ...unknown, erased_at: textOfMicros(notedAtMicros), host }
}
