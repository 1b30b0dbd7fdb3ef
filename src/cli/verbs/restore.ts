/** `pond restore` and `pond resume`: a session, into a client. */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { PondError } from "../../model/errors.ts"
import { bytesText, counted, countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import {
  goesOnAsItLies,
  groupLosses,
  isTakenOver,
  type LossGroup,
  planRestoreOf,
  type RestoreOptions,
  type RestoreReport,
  reportOf,
  restore as restoreInto,
  rootOf,
} from "../../operations/machine/restore.ts"
import type { Pond } from "../../operations/pond.ts"
import { withFullSessionId } from "../../operations/store/session-id-prefix.ts"
import { type ProgramRun, runProgram } from "../../platform/process/programs.ts"
import { shownShellWord } from "../../platform/process/shell-word.ts"
import { flag } from "../flags.ts"
import { pickSession } from "../picker/pick-session.ts"
import type { InteractiveScreen } from "../picker/picker.ts"
import type { Style } from "../render/style.ts"
import { defineVerb, type Outcome, type VerbContext } from "../verb.ts"

const FLAGS = {
  to: flag.text("The client to restore into. Its own, where none is named.", "ADAPTER", { words: "adapters" }),
  root: flag.text(
    "The directory of the client's sessions, where it is not the usual one. The client is told of it.",
    "DIR",
  ),
  cwd: flag.text("The directory that the session goes on in.", "DIR"),
  anew: flag.onOff("Write it as the client does today, as a session of its own, also where it came from there."),
  force: flag.onOff("Replace files that are there, and keep them beside as backups."),
  reasoning: flag.choice("What becomes of reasoning that the target cannot verify: text, where nothing is said.", [
    "keep",
    "text",
    "drop",
  ]),
  "dry-run": flag.onOff("Say what would be written, and what would be lost."),
}
const SESSION = { name: "session", summary: "The id of the session.", count: "one", words: "sessions" } as const

type RestorePlan = Awaited<ReturnType<typeof planRestoreOf>>
type RestoreContext = Pick<VerbContext<typeof FLAGS>, "pond" | "flags" | "words">

export const restore = defineVerb({
  flags: FLAGS,
  positionals: [SESSION],
  examples: ["restore SESSION", "restore SESSION --to codex --cwd .", "restore SESSION --to pi --dry-run"],
  run: async (context) => {
    const { pond, flags } = context
    const options = optionsOf(context)
    using plan = await planWithWholeId(pond, options)
    if (flags["dry-run"]) return dryRun(pond, plan, options)
    warnOfLosses(pond, plan)
    warnOfOutdatedForm(pond, plan, options)
    return outcomeOf(await restoreInto(pond, plan, options))
  },
})

export const resume = defineVerb({
  flags: FLAGS,
  positionals: [
    { ...SESSION, summary: "The id of the session. Without one you choose, the newest first.", count: "optional" },
  ],
  examples: [
    "resume",
    "resume SESSION",
    "resume SESSION --to claude-code --cwd ~/work",
    "resume SESSION --anew --cwd ~/work",
  ],
  run: async (context) => {
    const { pond, openScreen, flags, handOver } = context
    const sessionId = context.words[0] ?? (await chooseSession(pond, openScreen))
    const options = optionsOf({ ...context, words: [sessionId] })
    if (flags["dry-run"]) {
      using plan = await planOpenable(pond, options)
      return dryRun(pond, plan, options)
    }
    const { report, title } = await restoreOrFindExisting(context, options)
    const { command, cwd, environment } = report.resume
    const [program, ...words] = command
    if (program === undefined || Bun.which(program) === null) {
      throw new PondError(
        "not_found",
        `The session is restored, and ${title} is not on this machine's PATH. Go on with: ${commandText(report)}`,
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
    host.log.warn(`${title} had put the session away, and has it back: \`${wordsText(before)}\`.`)
    return
  }
  const said = `${stderr}\n${stdout}`.split("\n").find((line) => line.trim() !== "") ?? `it ended with ${exitCode}`
  throw new PondError(
    "conflict",
    `The session is there, put away, and \`${wordsText(before)}\` did not bring it back (${visibleLine(said.trim())}). Go on with: ${commandText(report)}`,
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
  const shorter = `${at.path} has ${countText(lines)} lines, and what is stored ${countText(main.lines.length)}`
  const there = [...(root === undefined ? [] : ["--root", root]), ...(cwd === undefined ? [] : ["--cwd", cwd])]
  const forced = `\`${wordsText(["pond", "resume", report.session_id, ...there, "--force"])}\` goes on with what is stored`
  const said = visibleLine(`${shorter}: ${target.title} goes on with the shorter.`)
  host.log.warn(`${said} ${forced}, and keeps the other beside.`)
}

const LINE_FEED = 10

function warnOfNote({ host }: Pond, { resume: { note } }: RestoreReport): void {
  if (note !== undefined) host.log.warn(visibleLine(note))
}

function notRun(error: unknown): ProgramRun {
  if (error instanceof PondError) return { exitCode: 1, stdout: "", stderr: error.message }
  throw error
}

async function chooseSession(pond: Pond, openScreen: (() => InteractiveScreen) | undefined): Promise<string> {
  if (openScreen === undefined) {
    throw new PondError(
      "validation_failed",
      "SESSION is missing: name one, or run pond resume on a terminal to choose. `pond search` finds sessions.",
      { details: { argument: "session" } },
    )
  }
  const chosen = await pickSession(pond, openScreen)
  if (chosen === "none") {
    throw new PondError("not_found", "The store holds no session yet. `pond sync` fills it.")
  }
  if (chosen === undefined) throw new PondError("interrupted", "Nothing was chosen.")
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
  pond.host.log.warn(`${title} opens no session of this form: it goes on as a new one, written as ${title} writes now.`)
  return await planWithWholeId(pond, { ...options, isAnew: true })
}

/** A session that lies where it would be restored to is resumed as it lies. */
async function restoreOrFindExisting(
  { pond }: RestoreContext,
  options: RestoreOptions,
): Promise<{ readonly report: RestoreReport; readonly title: string }> {
  using plan = await planOpenable(pond, options)
  const { title } = plan.target
  const { cwd } = plan.resume
  if (!existsSync(cwd)) {
    const message =
      options.cwd === undefined
        ? `The session was held in ${cwd}, which is not there. Say where it goes on: pond resume ${options.sessionId} --cwd DIR`
        : `The directory ${cwd} is not there. Make it, or name another with --cwd.`
    throw new PondError("not_found", message, { details: { cwd } })
  }
  warnOfLosses(pond, plan)
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
    throw new PondError(error.code, `${error.message} Or go on with what is there: ${commandText(report)}`, {
      details: error.details,
      cause: error,
    })
  }
}

/** Something lies there, or the client is at work there, with this session in its own database perhaps. */
function isInTheWay({ code }: PondError, { isForced }: RestoreOptions): boolean {
  return code === "would_overwrite" || (code === "conflict" && !isForced)
}

/** What is not coming along is said before anything is written, while Ctrl-C still costs nothing. */
function warnOfLosses({ host }: RestoreContext["pond"], { losses }: RestorePlan): void {
  for (const group of groupLosses(losses)) host.log.warn(visibleLine(`Is lost: ${lossText(group)}`))
}

function warnOfOutdatedForm({ host }: RestoreContext["pond"], plan: RestorePlan, { sessionId }: RestoreOptions): void {
  if (!plan.isOutdated) return
  const { title } = plan.target
  host.log.warn(
    visibleLine(
      `${title} opens no session of this form, unless it took it over itself. \`pond resume ${sessionId}\` writes it as ${title} does now, as a new one.`,
    ),
  )
}

function lossText({ kind, count, example }: LossGroup): string {
  return `${kind.replaceAll("_", " ")}, ${counted(count, "time")} (${example})`
}

/** As the client will find it: started there, it is told the directory itself, and no link to it. */
function directoryOf(path: string): string {
  const whole = resolve(path)
  return existsSync(whole) ? realpathSync(whole) : whole
}

function optionsOf({ flags, words }: RestoreContext): RestoreOptions {
  return {
    sessionId: words[0] ?? "",
    to: flags.to,
    root: flags.root,
    cwd: flags.cwd === undefined ? undefined : directoryOf(flags.cwd),
    reasoning: flags.reasoning ?? "text",
    isForced: flags.force,
    isAnew: flags.anew,
  }
}

function dryRun(pond: Pond, plan: RestorePlan, { root }: RestoreOptions): Outcome {
  return outcomeOf(reportOf(plan, root ?? rootOf(pond, plan.target)))
}

function outcomeOf(report: RestoreReport): Outcome {
  return { document: { ...report }, render: ({ style }) => render(report, style) }
}

function render(report: RestoreReport, style: Style): string {
  const { files, losses, sessions, fidelity, backups } = report
  const { cwd } = report.resume
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  // Rows that go into a client's database are no bytes of a file.
  const size = bytes === 0 ? "" : `, ${bytesText(bytes)}`
  const lines = [
    `${report.written ? "Restored" : "Would restore"} ${counted(sessions.length, "session")}, ${fidelity}: ${counted(files.length, "file")}${size}.`,
    ...files.map(({ path }) => `  ${visibleLine(path)}`),
    ...backups.map((path) => style.magenta(`  kept the old file: ${visibleLine(path)}`)),
    ...(report.written ? [] : losses.map((group) => style.magenta(`  ${visibleLine(`lost: ${lossText(group)}`)}`))),
    ...(report.rewritten_paths > 0 ? [`  ${countText(report.rewritten_paths)} paths name the new directory.`] : []),
    ...(existsSync(cwd)
      ? []
      : [style.magenta(`  ${visibleLine(cwd)} is not there: make it first, or name another with --cwd.`)]),
    `${style.dim("Go on with")}  ${commandText(report)}`,
    ...(report.resume.note === undefined ? [] : [style.dim(visibleLine(report.resume.note))]),
  ]
  return `${lines.join("\n")}\n`
}

function commandText({ resume: { before, command, cwd, environment = {} } }: RestoreReport): string {
  const set = Object.entries(environment).map(([name, value]) => `${name}=${shownShellWord(value)}`)
  const steps = before === undefined ? [command] : [before, command]
  const told = steps.map((step) => [...set, wordsText(step)].join(" "))
  return [`cd ${shownShellWord(cwd)}`, ...told].join(" && ")
}

function wordsText(command: readonly string[]): string {
  return command.map(shownShellWord).join(" ")
}
