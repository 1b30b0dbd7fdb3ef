/**
 * Write a session into a client, its own or another, so that it is listed and resumed there. Not on the wire: it writes to
 * this machine. The plan alone is, as `restore_plan`.
 */
import { existsSync, realpathSync } from "node:fs"
import { homedir } from "node:os"
import { isAbsolute, join, posix, resolve, win32 } from "node:path"
import type { Adapter, ResumeCommand } from "../../adapters/adapter.ts"
import { isPromptsOnly } from "../../adapters/prompts-only.ts"
import { ADAPTERS, adapterById, originOf } from "../../adapters/registry.ts"
import { PondError } from "../../model/errors.ts"
import type { Loss } from "../../model/report.ts"
import { visibleLine } from "../../model/visible.ts"
import { backupOf } from "../../platform/files/draft-names.ts"
import { realFiles } from "../../platform/files/files.ts"
import { type RowsToWrite, rowsThere, writeForeignRows } from "../../platform/files/foreign-sqlite-writer.ts"
import { createLineShelf } from "../../platform/files/long-lines.ts"
import { writerOf } from "../../platform/files/open-files.ts"
import { ensureWritable, notWritable } from "../../platform/host/paths.ts"
import { between } from "../../platform/memory.ts"
import { suggestion } from "../../platform/nearest.ts"
import { isSystemError } from "../../platform/system-error.ts"
import { applyRestore, isPlaced, isSeenThere, liesThere } from "../../restore/apply.ts"
import { type Checked, checkDraft } from "../../restore/check.ts"
import { lengthOf, writeDraft } from "../../restore/draft.ts"
import { grantsOf } from "../../restore/grants.ts"
import { planRestore, type RestorePlan, type RestoreRequest } from "../../restore/plan.ts"
import type { StoredTree } from "../../sessions/read/read-sessions.ts"
import type { Pond } from "../pond.ts"

export interface RestoreOptions {
  readonly sessionId: string
  /** The adapter to restore into. Absent: the session's own. */
  readonly to?: string | undefined
  /** Absent: the client's own home. */
  readonly root?: string | undefined
  readonly cwd?: string | undefined
  readonly reasoning: "keep" | "text" | "drop"
  readonly isForced: boolean
  /** As the client writes today, also where the session came from there. */
  readonly isAnew?: boolean | undefined
}

export interface RestoreReport {
  readonly fidelity: "native" | "foreign"
  /** The client of today opens no session of the form that this one has. */
  readonly outdated: boolean
  readonly session_id: string
  readonly sessions: readonly { readonly id: string; readonly from: string }[]
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
  readonly backups: readonly string[]
  readonly losses: readonly LossGroup[]
  readonly rewritten_paths: number
  readonly resume: ResumeCommand
  readonly written: boolean
}

export interface LossGroup {
  readonly kind: string
  readonly count: number
  readonly example: string
}

/** A plan that was read back. */
export interface CheckedPlan extends RestorePlan, Checked, Disposable {}

/**
 * What would be written. Read back and compared already, so that a plan which is shown is a plan that holds. It may hold files
 * open: to be disposed of, once it is applied or not going to be.
 */
export async function planRestoreOf(pond: Pond, options: RestoreOptions): Promise<CheckedPlan> {
  checkDirectory(options.cwd)
  const shelf = createLineShelf({ path: `${draftFolder(pond)}-lines` })
  try {
    const plan = await planned(pond, options, shelf.newLines)
    between("passes")
    const checked = await proved(pond, plan)
    between("passes")
    return { ...plan, ...checked, [Symbol.dispose]: () => shelf[Symbol.dispose]() }
  } catch (error) {
    shelf[Symbol.dispose]()
    throw error
  }
}

/** No client is told that what a person typed was a conversation. */
function refusePrompts({ session }: StoredTree, target: Adapter): void {
  if (!isPromptsOnly(session.source_agent) || session.source_agent === target.id) return
  throw new PondError(
    "validation_failed",
    `${session.id} is a record of prompts: what was answered is not known, so no client can resume it. Read it with \`pond get\`.`,
    { details: { session_id: session.id } },
  )
}

async function planned(
  pond: Pond,
  options: RestoreOptions,
  newLines: RestoreRequest["newLines"],
): Promise<RestorePlan> {
  const sessions = await pond.sessions()
  const tree = await sessions.tree(options.sessionId)
  const target = targetOf(tree, options.to)
  refusePrompts(tree, target)
  const cwd = options.cwd ?? tree.session.project
  const root = () => options.root ?? rootOf(pond, target, cwd)
  return await planRestore({
    tree,
    ancestors: () => sessions.ancestors(options.sessionId),
    log: (id) => sessions.stored(id),
    target,
    root: rootElsewhere(pond, target, { root: options.root, cwd }),
    cwd: options.cwd,
    reasoning: options.reasoning,
    isAnew: options.isAnew,
    model: target.models?.lastUsed?.(root()),
    newLines,
    currentPath: target.relocation?.currentPath?.(root()),
    atRoot: target.relocation?.atRoot?.(wholePath(root())),
  })
}

export async function restore(pond: Pond, plan: CheckedPlan, options: RestoreOptions): Promise<RestoreReport> {
  const root = options.root ?? rootOf(pond, plan.target, plan.resume.cwd)
  const stamp = stampOf(pond)
  ensureWritable(root)
  if (options.isForced) refuseWhileWritten(plan, root)
  await rememberCopies(pond, plan)
  const { files, backups } = await applyRestore({
    files: realFiles,
    root,
    output: plan.files,
    isForced: options.isForced,
    stamp,
    writeDatabase: async (path, file) => {
      const replaced = options.isForced ? { replaceWithBackup: backupOf(path, stamp) } : {}
      return writeForeignRows(path, file, replaced).backups
    },
  }).catch((error: unknown) => {
    throw isSystemError(error) ? notWritable(root, error) : error
  })
  return { ...reportOf(plan, root), files, backups, written: true }
}

/** Of a session that somebody else may have made: how it came here, and what it lets its client do without asking. */
export interface Arrived {
  readonly from: string
  readonly arrival: string
  readonly grants: readonly string[]
}

const ARRIVALS: Readonly<Record<string, string>> = {
  archive: "an export file",
  copy: "a copied store",
  wire: "an HTTP request",
}

/** Undefined where every session of it was found on this machine. */
export async function arrivedOf(pond: Pond, plan: RestorePlan): Promise<Arrived | undefined> {
  const { origins } = await pond.sessions()
  const [arrival] = (await origins.of(plan.sessions.map(({ id }) => id))).values()
  if (arrival === undefined) return undefined
  const grants = plan.fidelity === "native" ? grantsOf(plan).map(visibleLine) : []
  return { from: ARRIVALS[arrival] ?? "elsewhere", arrival, grants }
}

/** A store that cannot be written to is restored from all the same. */
async function rememberCopies(pond: Pond, { copies, target }: CheckedPlan): Promise<void> {
  if (copies.length === 0) return
  try {
    await (await pond.sessions()).copies.note(copies)
  } catch (error) {
    if (!(error instanceof PondError)) throw error
    const reason = visibleLine(error.message)
    pond.host.log.warn(
      `The store cannot remember that this is a copy (${reason}): the next sync stores what ${target.title} has of it as a session of its own.`,
    )
  }
}

/** Codex keeps the rollout of a thread open, and would write on into the backup of it. What is added to has none. */
function refuseWhileWritten({ files }: RestorePlan, root: string): void {
  const writer = writerOf(files.filter(isPlaced).map(({ relativePath }) => join(root, relativePath)))
  if (writer === undefined) return
  const { path, program, processId } = writer
  throw new PondError("conflict", `${program} (process ${processId}) has ${path} open. Close it and run this again.`, {
    details: { path, program, process: processId },
  })
}

/** Whether the client has the session in its database, as it was held there or taken over by the client itself. */
export async function isTakenOver(
  pond: Pond,
  { target, sessionId, resume }: RestorePlan,
  { root }: RestoreOptions,
): Promise<boolean> {
  for await (const found of target.source.plan(root ?? rootOf(pond, target, resume.cwd)))
    if ("files" in found && found.row?.id === sessionId) return true
  return false
}

/**
 * Whether the client goes on with it as it lies there: its own session, whatever it made of it; or what an earlier restore
 * wrote, where all of it is there and nobody changed it since but by going on.
 */
export async function goesOnAsItLies(pond: Pond, plan: RestorePlan, options: RestoreOptions): Promise<boolean> {
  const root = options.root ?? rootOf(pond, plan.target, plan.resume.cwd)
  const there = { files: realFiles, root, output: plan.files, hasRows }
  if (plan.fidelity === "foreign") return await liesThere(there)
  return plan.files[0]?.form === "database" ? await isTakenOver(pond, plan, options) : await isSeenThere(there)
}

function hasRows(path: string, file: RowsToWrite): boolean {
  const { conflicts, isEvery } = rowsThere(path, file)
  return isEvery && conflicts.length === 0
}

export function reportOf(plan: RestorePlan, root: string): RestoreReport {
  return {
    fidelity: plan.fidelity,
    outdated: plan.isOutdated,
    session_id: plan.sessionId,
    sessions: plan.sessions,
    files: plan.files.map((file) => ({
      path: join(root, file.relativePath),
      bytes: file.form === "database" ? 0 : lengthOf(file),
    })),
    backups: [],
    losses: groupLosses(plan.losses),
    rewritten_paths: plan.rewrittenPaths,
    resume: plan.resume,
    written: false,
  }
}

/** `cwd` is the directory that the session goes on in. */
export function rootOf(pond: Pond, target: Adapter, cwd?: string): string {
  const { environment } = pond.host
  const [own] = target.source.roots(environment, environment["HOME"] ?? homedir())
  const isInProject = target.source.isIn !== undefined
  // A session may come from anybody: no directory is made because one names it.
  if (isInProject && cwd !== undefined && !existsSync(cwd))
    throw new PondError("not_found", `There is no directory ${cwd} here. Name one with --cwd.`, { details: { cwd } })
  const root = isInProject ? cwd : own
  const isRead = target.serialize.foreign === undefined
  if (root !== undefined && !isRead) return root
  throw new PondError(
    "validation_failed",
    isRead
      ? `${target.title} cannot open what pond writes. Resume the session in another client with --to, or write its files to a directory with --root.`
      : `Cannot find where ${target.title} keeps its sessions. Set the directory with --root.`,
  )
}

/** Nothing where the client looks there by itself. */
function rootElsewhere(
  pond: Pond,
  target: Adapter,
  { root, cwd }: { readonly root: string | undefined; readonly cwd: string },
): string | undefined {
  const { environment } = pond.host
  const { source, relocation } = target
  const own = target.source.isIn !== undefined ? cwd : source.roots(environment, environment["HOME"] ?? homedir())[0]
  const whole = wholePath(root ?? rootOf(pond, target, cwd))
  // One that is relative is another one where the client is started.
  const isFound = own !== undefined && isAbsolute(own) && wholePath(own) === whole
  return isFound && relocation?.isDiverted?.(environment) !== true ? undefined : whole
}

function wholePath(path: string): string {
  const whole = resolve(path)
  return existsSync(whole) ? realpathSync(whole) : whole
}

/** It is written into the session, and a client that is started there looks for the whole path. */
function checkDirectory(cwd: string | undefined): void {
  if (cwd === undefined || posix.isAbsolute(cwd) || win32.isAbsolute(cwd)) return
  throw new PondError("validation_failed", `${cwd} is not an absolute path.`, {
    details: { cwd },
  })
}

async function proved(pond: Pond, plan: RestorePlan): Promise<Checked> {
  const folder = draftFolder(pond)
  // Nobody goes on with it after a crash.
  const files = { ...realFiles, sync: () => Promise.resolve() }
  try {
    await writeDraft(files, folder, plan.proof.files, async (path, file) => writeForeignRows(path, file).backups)
    return await checkDraft(plan, folder)
  } catch (error) {
    throw isSystemError(error) ? notWritable(folder, error) : error
  } finally {
    await realFiles.remove(folder)
  }
}

function draftFolder(pond: Pond): string {
  return join(pond.host.path("cache"), `restore-${stampOf(pond)}`)
}

function targetOf({ session }: StoredTree, to: string | undefined): Adapter {
  const target = to === undefined ? originOf(session.source_agent) : adapterById(to)
  if (target !== undefined) return target
  const ids = ADAPTERS.map(({ id }) => id)
  const wanted = to ?? session.source_agent
  throw new PondError(
    "validation_failed",
    `Cannot restore into "${wanted}".${suggestion(wanted, ids)} Clients: ${ids.join(", ")}.`,
    {
      details: { adapter: wanted, adapters: ids },
    },
  )
}

function stampOf({ host }: Pond): string {
  return `${Math.trunc(host.clock.nowMs()).toString(36)}-${Math.trunc(host.random.next() * 2 ** 32).toString(36)}`
}

export function groupLosses(losses: readonly Loss[]): LossGroup[] {
  return [...Map.groupBy(losses, ({ kind }) => kind)].map(([kind, group]) => ({
    kind,
    count: group.length,
    example: group[0]?.found ?? kind,
  }))
}
