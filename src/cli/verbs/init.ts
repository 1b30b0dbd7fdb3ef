/** `pond init`: what is on this machine, what pond would set up, and doing it, with a person's leave or with `--yes`. */

import { counted } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import {
  applyInit,
  type InitChoices,
  type InitDone,
  type InitPlan,
  planInit,
  type Step,
  type Undone,
  undoInit,
} from "../../operations/machine/init.ts"
import type { RegistrationState } from "../../operations/machine/registrations.ts"
import { syncExitCode } from "../../operations/machine/sync.ts"
import { flag } from "../flags.ts"
import { everyText } from "../render/sync-text.ts"
import { wrapToWidth } from "../render/table.ts"
import { defineVerb, type Outcome, type Page, type VerbContext } from "../verb.ts"
import { renderDiscovered } from "./adapters.ts"
import { renderSynced, syncWithProgress } from "./sync.ts"

const FLAGS = {
  yes: flag.onOff("Do it all, and ask nothing."),
  "no-mcp": flag.onOff("Leave the clients' settings alone."),
  "no-schedule": flag.onOff("Do not sync by itself."),
  "no-sync": flag.onOff("Leave the first sync for later."),
  "dry-run": flag.onOff("Say what would be done, and do nothing."),
  undo: flag.onOff("Take back what init did. What is stored stays."),
}

type Context = VerbContext<typeof FLAGS>

const EXIT_NOT_WHOLE = 4

export const init = defineVerb({
  flags: FLAGS,
  positionals: [],
  examples: [
    "init",
    "init --yes",
    "init --yes --no-schedule --json",
    "init --store s3://bucket/pond",
    "init --dry-run",
    "init --undo",
  ],
  run: async (context) => {
    const { pond, flags, signal, ask, page, writeOut, isJson } = context
    if (flags.undo) return outcomeOfUndo(await undoInit(pond))
    const plan = await planInit(pond, signal)
    if (flags["dry-run"] || (!flags.yes && ask === undefined)) return outcomeOfPlan(context, plan)
    if (!isJson) writeOut(`${renderPlan(context, plan, page)}\n`)
    const isAsked = !flags.yes && ask !== undefined
    const choices = isAsked ? await choose(context, plan, ask) : choicesOf(context, plan)
    const done = await applyInit(pond, plan, choices)
    const wantsSync = !flags["no-sync"] && (!isAsked || (await ask(firstSyncQuestion(plan))))
    const report = wantsSync ? await firstSync(context) : undefined
    const isWhole = done.schedule_failed === null && done.registrations.every(({ change }) => change !== "failed")
    const syncCode = report === undefined ? 0 : syncExitCode(report)
    return {
      document: {
        applied: true,
        ...documentOf(plan),
        done: { ...done },
        sync: report === undefined ? null : { ...report },
      },
      exitCode: isWhole ? syncCode : EXIT_NOT_WHOLE,
      render: (layout) =>
        `${renderDone(done, layout)}${report === undefined ? "" : `\n${renderSynced(report, layout)}`}${nextSteps(layout)}`,
    }
  },
})

function firstSync(context: Context) {
  return syncWithProgress(context, { adapters: [], only: [], skip: [], isFull: false, isPatient: true })
}

// --- What is to be done -----------------------------------------------------------------------------------------------

function openRegistrations({ registrations }: InitPlan): readonly RegistrationState[] {
  return registrations.filter(({ status }) => status === "absent" || status === "outdated")
}

function choicesOf({ flags }: Context, plan: InitPlan): InitChoices {
  return {
    registrations: flags["no-mcp"] ? [] : openRegistrations(plan).map(({ adapter }) => adapter),
    schedule: !flags["no-schedule"] && plan.schedule.planned !== null,
  }
}

async function choose(context: Context, plan: InitPlan, ask: NonNullable<Context["ask"]>): Promise<InitChoices> {
  const offered = choicesOf(context, plan)
  const registrations: string[] = []
  for (const { adapter, title, file } of openRegistrations(plan)) {
    if (offered.registrations.includes(adapter) && (await ask(`Tell ${title} of pond, in ${context.page.path(file)}?`)))
      registrations.push(adapter)
  }
  const every = everyText(plan.schedule.planned?.every_minutes ?? 0)
  const schedule =
    offered.schedule &&
    (isScheduled(plan) || (await ask(`Sync by itself every ${every} (${plan.schedule.planned?.scheduler})?`)))
  return { registrations, schedule }
}

function isScheduled({ schedule: { now } }: InitPlan): boolean {
  return now.scheduled && now.trouble === null
}

function firstSyncQuestion({ clients }: InitPlan): string {
  const sessions = clients.filter(({ enabled }) => enabled).reduce((sum, client) => sum + client.sessions, 0)
  return `Sync now (${counted(sessions, "session")})?`
}

function documentOf({ config, clients, registrations, schedule }: InitPlan) {
  return { config, clients, registrations, schedule }
}

function outcomeOfPlan(context: Context, plan: InitPlan): Outcome {
  return {
    document: { applied: false, ...documentOf(plan) },
    render: (page) =>
      `${renderPlan(context, plan, page)}\n${page.style.dim("Nothing was done. `pond init --yes` does it all; `pond init` on a terminal asks step by step.")}\n`,
  }
}

// --- On paper ---------------------------------------------------------------------------------------------------------

function renderPlan(context: Context, plan: InitPlan, page: Page): string {
  const { style } = page
  const { config, schedule } = plan
  const offered = choicesOf(context, plan)
  const sets = Object.entries(config.sets).map(([key, value]) => `  ${key} = ${JSON.stringify(value)}\n`)
  const settings = config.exists ? "is there" : "will be made"
  return [
    `${style.bold("On this machine")}\n`,
    renderDiscovered(plan.clients, context.pond.host.clock.nowMs(), page),
    `\n${style.bold("Settings")}  ${page.path(config.path)} ${settings}\n`,
    ...sets.map(visibleLine).map((line) => `  ${line}\n`),
    `  archive: ${page.path(config.store)}\n`,
    `\n${style.bold("MCP")}  so that agents find and read past sessions\n`,
    ...plan.registrations.map((state) => registrationText(state, offered.registrations.includes(state.adapter), page)),
    plan.registrations.length === 0 ? "  no client here that knows it\n" : "",
    ...plan.clients.filter(({ found, enabled, mcp }) => found && enabled && !mcp).map(withoutMcp),
    `\n${style.bold("Schedule")}  ${scheduleText(schedule, offered.schedule)}\n`,
  ].join("")
}

function withoutMcp({ title }: InitPlan["clients"][number]): string {
  return `  ${title} knows no MCP; \`pond skill\` prints what it can read instead\n`
}

function registrationText(
  { title, file, status, wanted, why, command, by_hand }: RegistrationState,
  isOffered: boolean,
  page: Page,
): string {
  const { style } = page
  const place = `  ${title}: ${page.path(file)}`
  if (status === "registered") return `${place} has it already\n`
  if (status === "taken")
    return `${place} has another "pond", which stays: ${visibleLine((command ?? ["no command"]).join(" "))}\n`
  if (status === "unreadable")
    return `${place} ${style.magenta("cannot be changed safely")}: ${visibleLine(why ?? "")}\n${byHandText(by_hand, wanted)}`
  if (!isOffered) return `${place} is left alone\n`
  const verb =
    status === "outdated" ? `will be set right; it names ${visibleLine((command ?? []).join(" "))}` : "will get"
  return `${place} ${verb}\n${style.dim(indentLines(wanted))}`
}

function byHandText(byHand: readonly string[] | null, wanted: string): string {
  return byHand === null ? `    Add by hand:\n${indentLines(wanted)}` : `    By hand: ${byHand.join(" ")}\n`
}

function indentLines(text: string): string {
  return text
    .split("\n")
    .map((line) => `      ${visibleLineKeepingIndent(line)}\n`)
    .join("")
}

function visibleLineKeepingIndent(line: string): string {
  const indent = /^\s*/.exec(line)?.[0] ?? ""
  return `${indent}${visibleLine(line)}`
}

function scheduleText({ now, planned: next, why }: InitPlan["schedule"], isOffered: boolean): string {
  if (now.scheduled && now.trouble === null)
    return `${now.scheduler} syncs every ${everyText(now.every_minutes ?? 0)} already`
  if (next === null) return `none: ${visibleLine(why ?? "")}`
  return isOffered
    ? `${next.scheduler} will run \`pond sync\` every ${everyText(next.every_minutes)}`
    : "none is wanted"
}

function renderDone(done: InitDone, { style }: Page): string {
  const lines: string[] = []
  if (done.config.changed)
    lines.push(`Settings ${done.config.made ? "made" : "changed"}: ${visibleLine(done.config.path)}`)
  lines.push(
    ...done.registrations
      .filter(({ change }) => change !== "none")
      .map((step) => stepText(step, style.magenta("failed"))),
  )
  if (done.schedule_failed !== null)
    lines.push(`${style.magenta("failed")}  schedule: ${visibleLine(done.schedule_failed)}`)
  else if (done.schedule.scheduled)
    lines.push(`Syncs every ${everyText(done.schedule.every_minutes ?? 0)}, through ${done.schedule.scheduler}`)
  if (lines.length === 0) lines.push("All was set up already")
  return lines.map((line) => `${line}\n`).join("")
}

function stepText(step: Step, failed: string): string {
  const { title } = step
  if (step.change === "failed") return `${failed}  ${title}: ${visibleLine(step.why)}`
  const kept = step.backup === null ? "" : ` (before: ${visibleLine(step.backup)})`
  const verbs = {
    added: "knows pond now",
    updated: "knows this pond now",
    removed: "does not know pond any more",
    none: "stays as it is",
  }
  return `${title} ${verbs[step.change]}: ${visibleLine(step.file)}${kept}`
}

function nextSteps({ columns, style }: Page): string {
  const text =
    'Next: `pond search "a few words"`, `pond status`. An agent that runs already knows pond after its next start. `pond init --undo` takes all of this back.'
  return `\n${wrapToWidth(text, Math.min(columns, 100)).map(style.dim).join("\n")}\n`
}

function outcomeOfUndo({ registrations, schedule_stopped, config_removed }: Undone): Outcome {
  const isWhole = registrations.every(({ change }) => change !== "failed")
  return {
    document: { registrations, schedule_stopped, config_removed },
    exitCode: isWhole ? 0 : EXIT_NOT_WHOLE,
    render: ({ style }) => {
      const lines = registrations.map((step) => stepText(step, style.magenta("failed")))
      if (schedule_stopped) lines.push("pond syncs no more by itself.")
      if (config_removed) lines.push("The settings that init made are gone.")
      if (lines.length === 0) lines.push("There was nothing to take back.")
      return `${lines.join("\n")}\nWhat is stored stays. To delete it, delete the directory of the archive (\`pond config\` names it).\n`
    },
  }
}
