/**
 * Writes every stored session of a client into another one: for a client that was shut down, or that its user left. What
 * one session is refused for does not stop the others, and a second run continues where the first one stopped.
 */
import { type ErrorCode, PondError } from "../../model/errors.ts"
import type { Loss } from "../../model/report.ts"
import type { RunContext } from "../operation.ts"
import type { Pond } from "../pond.ts"
import { chosenSessions } from "../share/site.ts"
import { titleText } from "../wire/views.ts"
import { adapterNamed } from "./clients.ts"
import { goesOnAsItLies, groupLosses, planRestoreOf, type RestoreOptions, restore, rootOf } from "./restore.ts"
import { type SyncHooks, syncPond } from "./sync.ts"

export interface RescueRequest extends Pick<RestoreOptions, "root" | "cwd" | "reasoning"> {
  readonly client: string
  readonly to: string
  /** Where the client's sessions lie, if not in the usual place. */
  readonly path?: string | undefined
  readonly isDry: boolean
}

export interface RescueHooks extends SyncHooks {
  /** With the titles of both clients, before anything is done. */
  readonly onClients?: (from: string, to: string) => void
  readonly onSession?: (place: number, total: number) => void
}

interface Rescued {
  readonly session_id: string
  readonly state: "written" | "planned" | "present" | "refused"
  readonly written_id: string | null
  readonly reason: string | null
}

/** These are about the machine and no session: the next one would meet them too. */
const STOPPING: ReadonlySet<ErrorCode> = new Set(["storage_unavailable", "interrupted", "internal"])

export async function rescueSessions(context: RunContext & RescueHooks, request: RescueRequest) {
  const { pond, signal, onSession } = context
  const { client, to, path, isDry } = request
  const { from, target } = clientsOf(pond, request)
  context.onClients?.(from.title, target.title)
  const adapters = [from.id]
  if (!isDry) await syncPond(pond, { adapters, path, only: [], skip: [], isFull: false, isPatient: true }, context)
  const ids = await chosenSessions(pond, { ids: [], filters: { source_agent: client } }, signal)
  const rescued: Rescued[] = []
  const losses: Loss[] = []
  // The oldest first: a client that lists by the time of its files then lists the newest first.
  for (const [place, id] of ids.toReversed().entries()) {
    signal.throwIfAborted()
    onSession?.(place, ids.length)
    rescued.push(await rescue(pond, id, request, losses))
  }
  const known = await headingsOf(pond, ids)
  return {
    client,
    to,
    sessions: rescued.map((each) => ({ ...each, ...known(each.session_id) })),
    losses: groupLosses(losses),
    dry_run: isDry,
  }
}

function clientsOf(pond: Pond, { client, to, root, cwd }: RescueRequest) {
  const [from, target] = [adapterNamed(client), adapterNamed(to)]
  if (from.id === target.id)
    throw new PondError(
      "validation_failed",
      `These are sessions of ${from.title} already. Name another client with --to, or see \`pond restore\`.`,
      { details: { client, to } },
    )
  // Of a client that keeps sessions in the project, each has a separate one.
  if (root === undefined && target.source.isIn === undefined) rootOf(pond, target, cwd)
  return { from, target }
}

async function rescue(pond: Pond, id: string, request: RescueRequest, losses: Loss[]): Promise<Rescued> {
  const { to, root, cwd, reasoning, isDry } = request
  const options: RestoreOptions = { sessionId: id, to, root, cwd, reasoning, isForced: false }
  try {
    using plan = await planRestoreOf(pond, options)
    const known = { session_id: id, written_id: plan.sessionId, reason: null }
    if (await goesOnAsItLies(pond, plan, options)) return { ...known, state: "present" }
    if (!isDry) await restore(pond, plan, options)
    losses.push(...plan.losses)
    return { ...known, state: isDry ? "planned" : "written" }
  } catch (error) {
    if (!(error instanceof PondError) || STOPPING.has(error.code)) throw error
    return { session_id: id, state: "refused", written_id: null, reason: error.message }
  }
}

async function headingsOf(pond: Pond, ids: readonly string[]) {
  const sessions = await pond.sessions()
  const found = new Map((await sessions.sessions(ids)).map((each) => [each.id, each]))
  const words = await sessions.firstWords(ids.filter((id) => found.get(id)?.title === undefined))
  return (id: string) => ({
    title: titleText(found.get(id)?.title ?? words.get(id)) ?? null,
    project: found.get(id)?.project ?? null,
  })
}
