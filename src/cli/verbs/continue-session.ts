/** A session, restored and opened in its client or another one: what `resume` and `browse` do with the one that was chosen. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { PondError } from "../../model/errors.ts"
import { countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import {
  arrivedOf,
  goesOnAsItLies,
  isTakenOver,
  planRestoreOf,
  type RestoreOptions,
  type RestoreReport,
  reportOf,
  restore as restoreInto,
  rootOf,
} from "../../operations/machine/restore.ts"
import type { Pond } from "../../operations/pond.ts"
import { withFullSessionId } from "../../operations/store/session-ids.ts"
import { findProgram, type ProgramRun, runProgram } from "../../platform/process/programs.ts"
import { pondCommand, shownCommand } from "../../platform/process/shell-word.ts"
import { realDirectory } from "../project-flag.ts"
import type { Outcome, VerbContext } from "../verb.ts"
import { warnOfOlderClient } from "./older-client.ts"
import { commandText, grantLines, outcomeOf, type RestorePlan, warnOfLosses } from "./restore.ts"

export interface ContinueContext extends Pick<VerbContext<Record<never, never>>, "pond" | "ask" | "handOver"> {
  /** Nothing is asked. */
  readonly isSure: boolean
  /** Whether pond ends with the client, and so lets go of the store before. */
  readonly isLast: boolean
}

/** Runs the client in the place of pond until it ends; returns its exit code. */
export async function continueSession(context: ContinueContext, options: RestoreOptions): Promise<number> {
  const { pond, handOver, isSure, isLast } = context
  const confirm = async (plan: RestorePlan) => {
    if (isSure) return
    await confirmLosses(context, plan)
    await confirmArrived(context, plan, options)
  }
  const { report, title } = await restoreOrFindExisting(context, options, confirm).catch(async (error: unknown) =>
    restoreOrFindExisting(context, await inThisDirectory(context, options, error), confirm),
  )
  const { command, cwd, environment } = report.resume
  const [program, ...words] = command
  const path = program === undefined ? undefined : findProgram(program, pond.host.environment)
  if (path === undefined) {
    throw new PondError(
      "not_found",
      `The session is restored, but ${title} is not on the PATH. Resume with: ${commandText(report)}`,
      { details: { ...report } },
    )
  }
  await bringBack(pond, report, title)
  warnOfNote(pond, report)
  const env = { ...pond.host.environment, ...environment } as Record<string, string>
  if (isLast) await pond.close()
  const client = Bun.spawn([path, ...words], { cwd, env, stdin: "inherit", stdout: "inherit", stderr: "inherit" })
  const takeBack = handOver(client)
  const exitCode = await client.exited
  if (!isLast) takeBack()
  return exitCode
}

/** Where the directory of a session is gone, it may continue in the one that somebody is in. */
async function inThisDirectory(
  { ask }: ContinueContext,
  options: RestoreOptions,
  error: unknown,
): Promise<RestoreOptions> {
  const gone = error instanceof PondError && error.code === "not_found" ? error.details["cwd"] : undefined
  if (ask === undefined || typeof gone !== "string" || options.cwd !== undefined) throw error
  const cwd = realDirectory(".")
  const explanation =
    "Paths in the session that lie below the old directory are changed to the new one. --cwd chooses another one."
  const question = `The session ran in ${visibleLine(gone)}, which does not exist here. Resume it in ${cwd}?`
  if (!(await ask(question, explanation))) throw error
  return { ...options, cwd }
}

/** A client with a whole screen covers what was said before it. Without a terminal nobody waits for an answer. */
async function confirmLosses({ ask }: ContinueContext, { losses, target }: RestorePlan): Promise<void> {
  if (losses.length === 0 || ask === undefined) return
  const explanation = `${target.title} cannot store these. The stored session and the original stay complete.`
  if (!(await ask(`Resume in ${target.title} without ${losses.length === 1 ? "it" : "them"}?`, explanation)))
    throw new PondError("interrupted", "Not resumed.")
}

/** What the client has put away it opens no sooner. */
async function bringBack({ host }: Pond, report: RestoreReport, title: string): Promise<void> {
  const { before, cwd, environment } = report.resume
  if (before === undefined) return
  const surroundings = { ...host.environment, ...environment }
  const { exitCode, stdout, stderr } = await runProgram(before, surroundings, { cwd }).catch(notRun)
  if (exitCode === 0) {
    host.log.warn(`${title} had archived the session; unarchived it with \`${shownCommand(before)}\`.`)
    return
  }
  const said = `${stderr}\n${stdout}`.split("\n").find((line) => line.trim() !== "") ?? `it ended with ${exitCode}`
  throw new PondError(
    "conflict",
    `The session is archived, and \`${shownCommand(before)}\` could not unarchive it (${visibleLine(said.trim())}). Resume with: ${commandText(report)}`,
    { details: { ...report } },
  )
}

/** A client that has a second copy, or took something back, goes on with less than was said: of Codex, with the live one. */
function warnOfShorterLog(
  { host }: Pond,
  plan: RestorePlan,
  report: RestoreReport,
  { root, cwd }: RestoreOptions,
): void {
  const { files, target } = plan
  const [main, at] = [files[0], report.files[0]]
  if (main?.form !== "log" || at === undefined || at.path.endsWith(".zst")) return
  const size = statSync(at.path, { throwIfNoEntry: false })?.size ?? at.bytes
  if (size >= at.bytes) return
  // Another directory may have made each line longer.
  const lines = readFileSync(at.path).reduce((count, byte) => (byte === LINE_FEED ? count + 1 : count), 0)
  if (lines >= main.lines.length) return
  const shorter = `${at.path} has ${countText(lines)} lines, the stored session ${countText(main.lines.length)}`
  const there = [...(root === undefined ? [] : ["--root", root]), ...(cwd === undefined ? [] : ["--cwd", cwd])]
  const forced = `\`${shownCommand(["pond", "resume", report.session_id, ...there, "--force"])}\` resumes the stored one`
  const said = visibleLine(`${shorter}: ${target.title} resumes the shorter one.`)
  host.log.warn(`${said} ${forced} and keeps the other as a backup.`)
}

const LINE_FEED = 10

function warnOfNote({ host }: Pond, { resume: { note } }: RestoreReport): void {
  if (note !== undefined) host.log.warn(visibleLine(note))
}

function notRun(error: unknown): ProgramRun {
  if (error instanceof PondError) return { exitCode: 1, stdout: "", stderr: error.message }
  throw error
}

function planWithWholeId(pond: Pond, options: RestoreOptions): Promise<RestorePlan> {
  return withFullSessionId(pond, options.sessionId, (sessionId) => planRestoreOf(pond, { ...options, sessionId }))
}

/** As its client opens it: of a form that it does not open, anew. A form that is rows itself is not what it took files over into. */
export async function planOpenable(pond: Pond, options: RestoreOptions): Promise<RestorePlan> {
  const plan = await planWithWholeId(pond, options)
  if (!plan.isOutdated) return plan
  if (plan.files[0]?.form !== "database" && (await isTakenOver(pond, plan, options))) return plan
  plan[Symbol.dispose]()
  const { title } = plan.target
  pond.host.log.warn(`${title} cannot open this old format: the session continues as a new one in the current format.`)
  return await planWithWholeId(pond, { ...options, isAnew: true })
}

/**
 * A session that somebody else may have made names the directory that its client is started in, and its model reads what it
 * says. So its owner sees both and decides.
 */
async function confirmArrived(
  { pond, ask }: ContinueContext,
  plan: RestorePlan,
  options: RestoreOptions,
): Promise<void> {
  const arrived = await arrivedOf(pond, plan)
  if (arrived === undefined) return
  const report = reportOf(plan, options.root ?? rootOf(pond, plan.target, plan.resume.cwd))
  const { command, cwd } = report.resume
  const facts = [
    `This session came from ${arrived.from}. It resumes`,
    `  in    ${visibleLine(cwd)}`,
    `  with  ${shownCommand(command)}`,
    ...report.files.map(({ path }) => `  file  ${visibleLine(path)}`),
    ...grantLines(arrived, plan.target.title),
  ].join("\n")
  if (ask === undefined) {
    const message = `${facts}\nAdd --yes to resume it, or --dry-run to see more.`
    throw new PondError("validation_failed", message, {
      details: { arrival: arrived.arrival, grants: arrived.grants, cwd, command },
    })
  }
  const explanation =
    "The model reads everything in the session and works in that directory. Only resume sessions that you trust."
  if (!(await ask(`${facts}\nResume it?`, explanation, "no"))) throw new PondError("interrupted", "Not resumed.")
}

/** A session that lies where it would be restored to is resumed as it lies. */
async function restoreOrFindExisting(
  { pond }: Pick<ContinueContext, "pond">,
  options: RestoreOptions,
  confirm: (plan: RestorePlan) => Promise<void>,
): Promise<{ readonly report: RestoreReport; readonly title: string }> {
  using plan = await planOpenable(pond, options)
  const { title } = plan.target
  const { cwd } = plan.resume
  if (!existsSync(cwd)) {
    const message =
      options.cwd === undefined
        ? `The session ran in ${cwd}, which does not exist here. Choose a directory: ${pondCommand("resume", options.sessionId, { cwd: "DIR" })}`
        : `The directory ${cwd} does not exist. Create it, or choose another with --cwd.`
    throw new PondError("not_found", message, { details: { cwd } })
  }
  warnOfLosses(pond, plan)
  await warnOfOlderClient(pond, plan, options.sessionId)
  await confirm(plan)
  try {
    return { report: await restoreInto(pond, plan, options), title }
  } catch (error) {
    if (!(error instanceof PondError) || !isInTheWay(error, options)) throw error
    const report = reportOf(plan, options.root ?? rootOf(pond, plan.target, plan.resume.cwd))
    if (await goesOnAsItLies(pond, plan, options)) {
      warnOfShorterLog(pond, plan, report, options)
      return { report, title }
    }
    // Parts of it lie there, as a client leaves them that deletes what is old, or nothing of it: there is nothing to go on with.
    const isNothing = error.code === "conflict" && !(await isTakenOver(pond, plan, options))
    if (plan.fidelity === "native" || isNothing) throw error
    // Which of the two is meant, what was said there since or what was said here, only the user knows.
    throw new PondError(error.code, `${error.message} Or resume the existing session: ${commandText(report)}`, {
      details: error.details,
      cause: error,
    })
  }
}

/** Something lies there, or the client is at work there, with this session in its own database perhaps. */
function isInTheWay({ code }: PondError, { isForced }: RestoreOptions): boolean {
  return code === "would_overwrite" || (code === "conflict" && !isForced)
}

export function dryRun(pond: Pond, plan: RestorePlan, { root }: RestoreOptions): Outcome {
  return outcomeOf(reportOf(plan, root ?? rootOf(pond, plan.target, plan.resume.cwd)), plan.target.title)
}
