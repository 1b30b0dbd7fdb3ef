/**
 * What a restore would write: the files of a session, of its descendants, and of whatever it is not whole without. Decides,
 * and writes nothing. Whether it is native or foreign is decided here, by comparing origins, and never by an adapter
 * (`adapter-native-restore-lossless`).
 */
import type { Adapter, Conversation, ForeignTarget, OutputFile, ResumeCommand } from "../adapters/adapter.ts"
import { originOf } from "../adapters/registry.ts"
import { loss } from "../adapters/shared/losses.ts"
import { nativeRecords } from "../adapters/shared/native.ts"
import { PondError } from "../model/errors.ts"
import type { Loss } from "../model/report.ts"
import type { SessionLog, SessionTree } from "../model/session.ts"
import { mergeFiles } from "./merge.ts"
import { reroot } from "./reroot.ts"
import { saysSomething, toldBy } from "./told.ts"

export interface RestoreRequest {
  readonly tree: SessionTree
  /** The sessions that the first one continues, nearest first. */
  readonly ancestors: readonly SessionLog[]
  /** Reads a session that another one needs. */
  readonly log: (sessionId: string) => Promise<SessionLog>
  readonly target: Adapter
  /** The directory that the session goes on in. Absent: its own. */
  readonly cwd: string | undefined
  readonly reasoning: ForeignTarget["reasoning"]
  /** Written as the target writes today, though it comes from there: a session of its own. */
  readonly isAnew?: boolean | undefined
  /** See `ForeignTarget`. */
  readonly model?: string | undefined
}

export interface RestorePlan {
  readonly fidelity: "native" | "foreign"
  readonly target: Adapter
  /** It is restored as it was, and its client opens none of that form. */
  readonly isOutdated: boolean
  /** The id under which the target knows the session. */
  readonly sessionId: string
  /** Every session that is written, and the client that it came from. */
  readonly sessions: readonly { readonly id: string; readonly from: string }[]
  readonly files: readonly OutputFile[]
  readonly losses: readonly Loss[]
  /** How many strings named the old directory and name the new one now. */
  readonly rewrittenPaths: number
  readonly resume: ResumeCommand
  /** What the written files must read as: see `check.ts`. */
  readonly proof: RestoreProof
}

/** The files before they were moved to another directory, and what they are to say. */
export type RestoreProof = { readonly files: readonly OutputFile[] } & (
  | {
      readonly fidelity: "native"
      readonly logs: readonly SessionLog[]
      /** Of each of them, the files that it became. */
      readonly written: readonly (readonly OutputFile[])[]
    }
  | {
      readonly fidelity: "foreign"
      readonly conversation: Conversation
      readonly reasoning: ForeignTarget["reasoning"]
    }
)

export async function planRestore(request: RestoreRequest): Promise<RestorePlan> {
  const origin = isRecorded(request.tree) ? adapterOf(request.tree) : undefined
  const isNative = origin?.id === request.target.id && request.isAnew !== true
  return isNative ? await planNative(request) : planForeign(request, origin)
}

/** What no client wrote, as it came over the wire, has no records that a client's adapter could go by: only its messages. */
function isRecorded(log: SessionLog): boolean {
  return nativeRecords(log).next().done !== true
}

async function planNative(request: RestoreRequest): Promise<RestorePlan> {
  const { tree, target } = request
  const logs = await withNeeded(flatten(tree), request)
  const written = logs.map((log) => target.serialize.native(log))
  const own = written[0]
  const files = mergeFiles(written.flatMap((each) => each.files))
  const home = tree.session.project
  const cwd = request.cwd ?? home
  const moved =
    cwd === home ? { files, rewrittenPaths: 0 } : reroot(files, { from: home, to: cwd, place: target.serialize.place })
  const whole = moved.rewrittenPaths === 0 ? moved.files : (target.serialize.repoint?.(moved.files) ?? moved.files)
  return {
    fidelity: "native",
    target,
    isOutdated: target.serialize.isOutdated?.(tree) ?? false,
    sessionId: own?.sessionId ?? tree.session.id,
    sessions: logs.map(({ session }) => ({ id: session.id, from: session.source_agent })),
    files: whole,
    losses: written.flatMap(({ losses }) => losses),
    rewrittenPaths: moved.rewrittenPaths,
    resume: target.serialize.resume(own?.sessionId ?? tree.session.id, cwd),
    proof: { fidelity: "native", logs, written: written.map((each) => each.files), files },
  }
}

function planForeign(request: RestoreRequest, origin: Adapter | undefined): RestorePlan {
  const { tree, ancestors, target, reasoning, model } = request
  const cwd = request.cwd ?? tree.session.project
  const conversation = conversationOf(tree, ancestors, origin)
  if (!saysSomething(toldBy(conversation, target.id, reasoning))) throw nothingToTell(tree.session.id, target)
  const written = target.serialize.foreign(conversation, { cwd, reasoning, model })
  const { sessionId } = written
  if (written.files.length === 0) {
    throw new PondError(
      "validation_failed",
      `pond reads ${target.title}, and cannot write another client's session for it yet. Restore into another client with --to.`,
      { details: { adapter: target.id } },
    )
  }
  const losses = [...missingHistory(request, origin), ...written.losses]
  const files = mergeFiles(written.files)
  return {
    fidelity: "foreign",
    target,
    isOutdated: false,
    sessionId,
    sessions: conversations(conversation).map(({ session }) => ({ id: session.id, from: session.source_agent })),
    files,
    losses,
    rewrittenPaths: 0,
    resume: target.serialize.resume(sessionId, cwd),
    proof: { fidelity: "foreign", conversation, reasoning, files },
  }
}

/** A client that lists what its user said lists no such session, so that a restore of it would be lost at once. */
function nothingToTell(id: string, target: Adapter): PondError {
  return new PondError(
    "validation_failed",
    `Nothing is said in the session ${id}, so ${target.title} has nothing to go on with. \`pond get ${id} --mode verbatim\` shows what it holds.`,
    { details: { session_id: id } },
  )
}

/** Forks are conversations of their own: only what an agent's agents did belongs to this one. */
function conversationOf(
  tree: SessionTree,
  ancestors: readonly SessionLog[],
  adapter: Adapter | undefined,
): Conversation {
  const origin = originOf(tree.session.source_agent)
  return {
    session: tree.session,
    entries: adapter?.context(tree, ancestors) ?? tree.entries.filter(({ parts }) => parts.length > 0),
    children: tree.children
      .filter(({ session }) => session.source_agent.includes("/") && originOf(session.source_agent) === origin)
      .map((child) => conversationOf(child, [tree, ...ancestors], adapter)),
  }
}

function conversations(conversation: Conversation): Conversation[] {
  return [conversation, ...conversation.children.flatMap(conversations)]
}

function adapterOf({ session }: SessionTree): Adapter {
  const adapter = originOf(session.source_agent)
  if (adapter !== undefined) return adapter
  throw new PondError(
    "validation_failed",
    `The session ${session.id} came from "${session.source_agent}", which this pond has no adapter for. Update pond, or export the session.`,
    { details: { session_id: session.id, source_agent: session.source_agent } },
  )
}

function flatten(tree: SessionTree): SessionLog[] {
  return [tree, ...tree.children.flatMap(flatten)]
}

/** What one session needs may need another: until nothing new is named. */
async function withNeeded(logs: readonly SessionLog[], { target, log }: RestoreRequest): Promise<SessionLog[]> {
  const all = new Map(logs.map((each) => [each.session.id, each]))
  for (const each of all.values()) {
    for (const id of target.serialize.needs?.(each) ?? []) {
      if (!all.has(id)) all.set(id, await neededLog(id, each.session.id, log))
    }
  }
  return [...all.values()]
}

async function neededLog(id: string, by: string, log: RestoreRequest["log"]): Promise<SessionLog> {
  try {
    return await log(id)
  } catch (cause) {
    if (!(cause instanceof PondError) || cause.code !== "not_found") throw cause
    const found = `The session ${by} goes on from ${id}, which is not in this store: its own client could not open it.`
    throw new PondError("not_found", `${found} Sync where that one lies, or restore into another client with --to.`, {
      details: { session_id: by, needs: id },
      cause,
    })
  }
}

/** Another client gets what is there of the conversation, and is told what is not. */
function missingHistory({ tree, ancestors }: RestoreRequest, origin: Adapter | undefined): Loss[] {
  const stored = new Set(ancestors.map(({ session }) => session.id))
  const missing = (origin?.serialize.needs?.(tree) ?? []).filter((id) => !stored.has(id))
  const first = tree.entries[0]?.message.id ?? tree.session.id
  return missing.map((id) => loss("missing_history", first, `what ${id} said before, which is not stored`))
}
