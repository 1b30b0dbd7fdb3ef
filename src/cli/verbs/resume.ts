/** `pond resume`: a session, restored and opened in a client. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { PondError } from "../../model/errors.ts"
import { countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import {
  goesOnAsItLies,
  isTakenOver,
  planRestoreOf,
  type RestoreOptions,
  type RestoreReport,
  reportOf,
  restore as restoreInto,
  rootOf,
} from "../../operations/machine/restore.ts"
import { perform } from "../../operations/operation.ts"
import type { Pond } from "../../operations/pond.ts"
import { fullSessionId, withFullSessionId } from "../../operations/store/session-ids.ts"
import { sessions as list } from "../../operations/wire/sessions.ts"
import { type ProgramRun, runProgram } from "../../platform/process/programs.ts"
import { pondCommand, shownCommand } from "../../platform/process/shell-word.ts"
import { flag } from "../flags.ts"
import { type Offered, pickSession } from "../picker/pick-session.ts"
import type { InteractiveScreen } from "../picker/picker.ts"
import { here } from "../project-flag.ts"
import { defineVerb, type Outcome, type VerbContext } from "../verb.ts"
import { warnOfOlderClient } from "./older-client.ts"
import { commandText, outcomeOf, type RestorePlan, restoreArguments, restoreOptions, warnOfLosses } from "./restore.ts"

const RESUME_FLAGS = {
  ...restoreArguments.flags,
  yes: flag.onOff("Resume without asking, even if the session came from an export file, a copied store or the wire."),
}

type RestoreContext = Pick<VerbContext<typeof restoreArguments.flags>, "pond" | "flags" | "words">

export const resume = defineVerb({
  flags: {
    ...RESUME_FLAGS,
    last: flag.onOff("Resume the session that was active last."),
    here: flag.onOff("Only sessions of the repository or directory you are in."),
  },
  positionals: [
    {
      name: "session",
      words: "sessions",
      summary: "The id of the session. Without one, choose from a list, filtered by any words given.",
      count: "many",
    },
  ],
  examples: [
    "resume",
    "resume --last",
    "resume --here",
    "resume login bug",
    "resume SESSION",
    "resume SESSION --to claude-code --cwd ~/work",
    "resume SESSION --anew --cwd ~/work",
  ],
  run: async (context) => {
    const { pond, flags, handOver } = context
    const sessionId = await sessionToResume(context)
    const options = restoreOptions({ ...context, words: [sessionId] })
    if (flags["dry-run"]) {
      using plan = await planOpenable(pond, options)
      return dryRun(pond, plan, options)
    }
    const { report, title } = await restoreOrFindExisting(context, options, (plan) =>
      confirmArrived(context, plan, options),
    )
    const { command, cwd, environment } = report.resume
    const [program, ...words] = command
    if (program === undefined || Bun.which(program) === null) {
      throw new PondError(
        "not_found",
        `The session is restored, but ${title} is not on the PATH. Resume with: ${commandText(report)}`,
        { details: { ...report } },
      )
    }
    await bringBack(pond, report, title)
    warnOfNote(pond, report)
    const env = { ...pond.host.environment, ...environment } as Record<string, string>
    await pond.close()
    const client = Bun.spawn([program, ...words], { cwd, env, stdin: "inherit", stdout: "inherit", stderr: "inherit" })
    handOver(client)
    return { exitCode: await client.exited }
  },
})

/** What the client has put away it opens no sooner. */
async function bringBack({ host }: Pond, report: RestoreReport, title: string): Promise<void> {
  const { before, cwd, environment } = report.resume
  if (before === undefined) return
  const surroundings = { ...host.environment, ...environment }
  const { exitCode, stdout, stderr } = await runProgram(before, surroundings, { cwd }).catch(notRun)
  if (exitCode === 0) {
    host.log.warn(`${title} had archived the session; brought it back with \`${shownCommand(before)}\`.`)
    return
  }
  const said = `${stderr}\n${stdout}`.split("\n").find((line) => line.trim() !== "") ?? `it ended with ${exitCode}`
  throw new PondError(
    "conflict",
    `The session is archived, and \`${shownCommand(before)}\` did not bring it back (${visibleLine(said.trim())}). Resume with: ${commandText(report)}`,
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

interface ResumeContext
  extends Pick<VerbContext<typeof restoreArguments.flags>, "pond" | "words" | "openScreen" | "signal"> {
  readonly flags: { readonly last: boolean; readonly here: boolean }
}

/** A session by its id, the last one, or one chosen from a list. */
async function sessionToResume({ pond, words, openScreen, signal, flags }: ResumeContext): Promise<string> {
  const [word, ...others] = words
  const within = flags.here ? here().within : undefined
  if (flags.last) {
    const project = within === undefined ? {} : { project: { within } }
    const { sessions: found } = await perform(list, { pond, signal }, { limit: 1, filters: project })
    const [newest] = found
    if (newest !== undefined && words.length === 0) return newest.session_id
    throw newest === undefined
      ? new PondError("not_found", "No session to resume. `pond sync` stores new ones.")
      : new PondError("validation_failed", "--last cannot be combined with a session or words.")
  }
  const isId = word !== undefined && others.length === 0
  if (isId && (openScreen === undefined || (await isStored(pond, word)))) return word
  return await chooseSession(pond, openScreen, { query: words.join(" "), within })
}

async function isStored(pond: Pond, id: string): Promise<boolean> {
  const sessions = await pond.sessions()
  return (await sessions.session(await fullSessionId(sessions, id))) !== undefined
}

async function chooseSession(
  pond: Pond,
  openScreen: (() => InteractiveScreen) | undefined,
  offered: Offered,
): Promise<string> {
  if (openScreen === undefined) {
    throw new PondError(
      "validation_failed",
      "Missing SESSION: name one, or run pond resume on a terminal to choose. `pond search` finds sessions.",
      { details: { argument: "session" } },
    )
  }
  const chosen = await pickSession(pond, openScreen, offered)
  if (chosen === "none") {
    const empty = offered.within === undefined ? "The store is empty." : "No session of this directory is stored."
    throw new PondError("not_found", `${empty} Run \`pond sync\`.`)
  }
  if (chosen === undefined) throw new PondError("interrupted", "No session chosen.")
  return chosen
}

function planWithWholeId(pond: Pond, options: RestoreOptions): Promise<RestorePlan> {
  return withFullSessionId(pond, options.sessionId, (sessionId) => planRestoreOf(pond, { ...options, sessionId }))
}

/** As its client opens it: of a form that it does not open, anew. A form that is rows itself is not what it took files over into. */
async function planOpenable(pond: Pond, options: RestoreOptions): Promise<RestorePlan> {
  const plan = await planWithWholeId(pond, options)
  if (!plan.isOutdated) return plan
  if (plan.files[0]?.form !== "database" && (await isTakenOver(pond, plan, options))) return plan
  plan[Symbol.dispose]()
  const { title } = plan.target
  pond.host.log.warn(`${title} cannot open this old format: the session continues as a new one in the current format.`)
  return await planWithWholeId(pond, { ...options, isAnew: true })
}

const ARRIVALS: Readonly<Record<string, string>> = {
  archive: "an export file",
  copy: "a copied store",
  wire: "an HTTP request",
}

/**
 * A session that somebody else may have made names the directory that its client is started in, and its model reads what it
 * says. So its owner sees both and decides.
 */
async function confirmArrived(
  { pond, ask, flags }: VerbContext<typeof RESUME_FLAGS>,
  plan: RestorePlan,
  options: RestoreOptions,
): Promise<void> {
  if (flags.yes) return
  const { origins } = await pond.sessions()
  const [arrival] = (await origins.of(plan.sessions.map(({ id }) => id))).values()
  if (arrival === undefined) return
  const report = reportOf(plan, options.root ?? rootOf(pond, plan.target))
  const { command, cwd } = report.resume
  const facts = [
    `This session came from ${ARRIVALS[arrival] ?? "elsewhere"}. It resumes`,
    `  in    ${visibleLine(cwd)}`,
    `  with  ${shownCommand(command)}`,
    ...report.files.map(({ path }) => `  file  ${visibleLine(path)}`),
  ].join("\n")
  if (ask === undefined) {
    const message = `${facts}\nAdd --yes to resume it, or --dry-run to see more.`
    throw new PondError("validation_failed", message, {
      details: { arrival, cwd, command },
    })
  }
  const explanation =
    "Its client's model reads what the session says, and works in that directory. Resume what you trust."
  if (!(await ask(`${facts}\nResume it?`, explanation, "no"))) throw new PondError("interrupted", "Not resumed.")
}

/** A session that lies where it would be restored to is resumed as it lies. */
async function restoreOrFindExisting(
  { pond }: RestoreContext,
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
    const report = reportOf(plan, options.root ?? rootOf(pond, plan.target))
    if (await goesOnAsItLies(pond, plan, options)) {
      warnOfShorterLog(pond, plan, report, options)
      return { report, title }
    }
    // Parts of it lie there, as a client leaves them that deletes what is old, or nothing of it: there is nothing to go on with.
    const isNothing = error.code === "conflict" && !(await isTakenOver(pond, plan, options))
    if (plan.fidelity === "native" || isNothing) throw error
    // Which of the two is meant, what was said there since or what was said here, only the user knows.
    throw new PondError(error.code, `${error.message} Or resume what is already there: ${commandText(report)}`, {
      details: error.details,
      cause: error,
    })
  }
}

/** Something lies there, or the client is at work there, with this session in its own database perhaps. */
function isInTheWay({ code }: PondError, { isForced }: RestoreOptions): boolean {
  return code === "would_overwrite" || (code === "conflict" && !isForced)
}

function dryRun(pond: Pond, plan: RestorePlan, { root }: RestoreOptions): Outcome {
  return outcomeOf(reportOf(plan, root ?? rootOf(pond, plan.target)), plan.target.title)
}
