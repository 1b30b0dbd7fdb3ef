/** `pond restore`: a session, into a client. */
import { existsSync } from "node:fs"
import { bytesText, counted, countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import {
  type Arrived,
  arrivedOf,
  groupLosses,
  type LossGroup,
  type planRestoreOf,
  type RestoreOptions,
  type RestoreReport,
} from "../../operations/machine/restore.ts"
import { restore as operation } from "../../operations/machine/restore-operations.ts"
import { perform } from "../../operations/operation.ts"
import { pondCommand, shownCommand, shownShellWord } from "../../platform/process/shell-word.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { realDirectory } from "../project-flag.ts"
import { defineVerb, type Outcome, type Page, type VerbContext } from "../verb.ts"
import { warnOfOlderClient } from "./older-client.ts"

export const restoreArguments = argumentsFor(
  operation.input,
  {
    to: { hint: "CLIENT", words: "adapters" },
    root: { hint: "DIR" },
    cwd: { hint: "DIR", convert: realDirectory },
    anew: {},
    force: {},
    reasoning: {},
    "dry-run": {},
  },
  [{ field: "session", words: "sessions" }],
)
export type RestorePlan = Awaited<ReturnType<typeof planRestoreOf>>
type RestoreContext = Pick<VerbContext<typeof restoreArguments.flags>, "pond" | "flags" | "words">

export const restore = defineVerb({
  flags: restoreArguments.flags,
  positionals: restoreArguments.positionals,
  examples: ["restore SESSION", "restore SESSION --to codex --cwd .", "restore SESSION --to pi --dry-run"],
  run: async (context) => {
    const { pond, flags, signal } = context
    const options = restoreOptions(context)
    let title = ""
    const onPlan = async (plan: RestorePlan) => {
      title = plan.target.title
      // With another root the session is for another machine, perhaps.
      if (flags.root === undefined) await warnOfOlderClient(pond, plan, options.sessionId)
      if (flags["dry-run"]) return
      warnOfLosses(pond, plan)
      warnOfOutdatedForm(pond, plan, options)
      await warnOfGrants(pond, plan)
    }
    return outcomeOf(await perform(operation, { pond, signal, onPlan }, restoreArguments.inputOf(context)), title)
  },
})

/** What is not coming along is said before anything is written, while Ctrl-C still costs nothing. */
export function warnOfLosses({ host }: RestoreContext["pond"], { losses }: RestorePlan): void {
  for (const group of groupLosses(losses)) host.log.warn(visibleLine(`Lost: ${lossText(group)}`))
}

/** A restore starts nothing, but what is resumed later goes by what was written. */
async function warnOfGrants(pond: RestoreContext["pond"], plan: RestorePlan): Promise<void> {
  const arrived = await arrivedOf(pond, plan)
  if (arrived === undefined || arrived.grants.length === 0) return
  pond.host.log.warn(`This session came from ${arrived.from}.\n${grantLines(arrived, plan.target.title).join("\n")}`)
}

/** What a session that came from elsewhere lets its client do unasked, and how it is left out. */
export function grantLines({ grants }: Pick<Arrived, "grants">, title: string): string[] {
  if (grants.length === 0) return []
  return [
    `  It lets ${title} act without asking you:`,
    ...grants.map((grant) => `  grant ${grant}`),
    "  Add --anew to write it as a new session without that.",
  ]
}

function warnOfOutdatedForm({ host }: RestoreContext["pond"], plan: RestorePlan, { sessionId }: RestoreOptions): void {
  if (!plan.isOutdated) return
  const { title } = plan.target
  host.log.warn(
    visibleLine(
      `${title} cannot open this old format unless it converted the session itself. \`${pondCommand("resume", sessionId)}\` writes a new session in the current format.`,
    ),
  )
}

export function lossText({ kind, count, example }: LossGroup): string {
  const noun = LOSS_NOUNS[kind as keyof typeof LOSS_NOUNS] ?? kind.replaceAll("_", " ")
  return `${counted(count, noun)} (${example})`
}

/** What one loss of a kind is called. */
const LOSS_NOUNS = {
  approval: "permission request",
  attachment: "attachment",
  cut_text: "cut through a prompt that looks like the target's own words",
  failure_mark: "failure mark",
  half_character: "half character",
  injected_context: "environment note",
  missing_history: "missing earlier session",
  model_settings: "model setting",
  opaque: "client-specific record",
  reasoning: "reasoning block",
  reasoning_as_text: "reasoning block turned into text",
  result_order: "result whose text goes before its pictures",
  sealed_reasoning: "sealed reasoning block",
  stray_result: "result without a call",
  subagent: "sub-agent session",
  system_message: "system message",
  tool_name: "end of a long tool name",
  tool_params: "tool parameter",
  unanswered_call: "call without a result",
} as const

export function restoreOptions({ flags, words }: RestoreContext): RestoreOptions {
  return {
    sessionId: words[0] ?? "",
    to: flags.to,
    root: flags.root,
    cwd: flags.cwd === undefined ? undefined : realDirectory(flags.cwd),
    reasoning: flags.reasoning ?? "text",
    isForced: flags.force,
    isAnew: flags.anew,
  }
}

export function outcomeOf(report: RestoreReport, title: string): Outcome {
  return { document: { ...report }, render: (page) => render(report, title, page) }
}

/** `Restored 1 session`, `Would convert 1 session to Codex`. */
function headlineOf({ written, fidelity, sessions }: RestoreReport, title: string): string {
  const count = counted(sessions.length, "session")
  if (fidelity === "native") return `${written ? "Restored" : "Would restore"} ${count}`
  return `${written ? "Converted" : "Would convert"} ${count} to ${title}`
}

function render(report: RestoreReport, title: string, { style, prose }: Page): string {
  const { files, losses, backups } = report
  const { cwd } = report.resume
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  // Rows that go into a client's database are no bytes of a file.
  const size = bytes === 0 ? "" : `, ${bytesText(bytes)}`
  const lines = [
    `${headlineOf(report, title)}: ${counted(files.length, "file")}${size}.`,
    ...files.map(({ path }) => `  ${visibleLine(path)}`),
    ...backups.map((path) => style.magenta(`  backup of the old file: ${visibleLine(path)}`)),
    ...(report.written ? [] : losses.map((group) => style.magenta(`  ${visibleLine(`lost: ${lossText(group)}`)}`))),
    ...(report.rewritten_paths > 0
      ? [`  Changed ${countText(report.rewritten_paths)} paths to the new directory.`]
      : []),
    ...(existsSync(cwd) || report.resume.command.length === 0
      ? []
      : [
          style.magenta(
            prose(`  ${visibleLine(cwd)} does not exist: create it, or choose another with --cwd.`, "    "),
          ),
        ]),
    // Nothing opens what an account exported.
    ...(report.resume.command.length === 0 ? [] : [`${style.dim("Resume with:")} ${commandText(report)}`]),
    ...(report.resume.note === undefined ? [] : [style.dim(prose(visibleLine(report.resume.note)))]),
  ]
  return `${lines.join("\n")}\n`
}

export function commandText({ resume: { before, command, cwd, environment = {} } }: RestoreReport): string {
  const set = Object.entries(environment).map(([name, value]) => `${name}=${shownShellWord(value)}`)
  const steps = before === undefined ? [command] : [before, command]
  const told = steps.map((step) => [...set, shownCommand(step)].join(" "))
  // A session that names no directory has the name of its folder there, such as `-work`.
  const words = cwd.startsWith("-") ? ["cd", "--", cwd] : ["cd", cwd]
  return [shownCommand(words), ...told].join(" && ")
}
