/** `pond init`: what is on this machine, what pond would set up, and doing it, with a person's leave or with `--yes`. */

import { bytesText, counted } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import {
  type InitChoices,
  type InitDone,
  type InitPlan,
  offeredChoices,
  type Step,
  type Undone,
} from "../../operations/machine/init.ts"
import type { RegistrationState } from "../../operations/machine/registrations.ts"
import { type InitHooks, init as operation } from "../../operations/machine/setup-operations.ts"
import { type SyncOutcome, syncExitCode } from "../../operations/machine/sync.ts"
import { perform } from "../../operations/operation.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { everyText } from "../render/sync-text.ts"
import { wrapToWidth } from "../render/table.ts"
import { defineVerb, type Outcome, type Page, type VerbContext } from "../verb.ts"
import { renderDiscovered } from "./adapters.ts"
import { renderSynced, syncWithProgress } from "./sync.ts"

const args = argumentsFor(operation.input, {
  yes: {},
  hooks: {},
  "no-mcp": {},
  "no-schedule": {},
  "no-sync": {},
  "dry-run": {},
  undo: {},
})

type Context = VerbContext<typeof args.flags>

const EXIT_NOT_WHOLE = 4

export const init = defineVerb({
  flags: args.flags,
  positionals: [],
  examples: [
    "init",
    "init --yes",
    "init --yes --hooks",
    "init --yes --no-schedule --json",
    "init --store s3://bucket/pond",
    "init --dry-run",
    "init --undo",
  ],
  run: async (context) => {
    const { pond, flags, signal, ask, page, writeOut, isJson } = context
    const isAsked = !flags.yes && ask !== undefined
    const hooks: InitHooks = {
      onPlan: (plan) => {
        if (!isJson) writeOut(`${renderPlan(context, plan, page)}\n`)
      },
      firstSync: async (plan) =>
        !isAsked || (await ask(firstSyncQuestion(plan), SYNC_EXPLANATION)) ? await firstSync(context) : undefined,
      ...(isAsked ? { choose: async (plan) => await choose(context, plan, ask) } : {}),
    }
    const answer = await perform(operation, { pond, signal, ...hooks }, args.inputOf(context))
    if (!("applied" in answer)) return outcomeOfUndo(answer)
    return answer.applied ? outcomeOfInit(answer) : outcomeOfPlan(context, answer)
  },
})

type Applied = Extract<Awaited<ReturnType<typeof operation.run>>, { readonly applied: true }>

function outcomeOfInit(answer: Applied): Outcome {
  const { done, sync: report } = answer
  const steps = [...done.registrations, ...done.hooks]
  const isWhole = done.schedule_failed === null && steps.every(({ change }) => change !== "failed")
  const syncCode = report === null ? 0 : syncExitCode(report)
  return {
    document: { ...answer },
    exitCode: isWhole ? syncCode : EXIT_NOT_WHOLE,
    render: (layout) =>
      `${renderDone(done, layout)}${report === null ? "" : `\n${renderSynced(report, layout)}`}${nextSteps(done, layout)}`,
  }
}

async function firstSync(context: Context): Promise<SyncOutcome | undefined> {
  const report = await syncWithProgress(context, {})
  return "dry_run" in report ? undefined : report
}

// --- What is to be done -----------------------------------------------------------------------------------------------

function openRegistrations({ registrations }: InitPlan): readonly RegistrationState[] {
  return registrations.filter(({ status }) => status === "absent" || status === "outdated")
}

/** A person is asked about hooks, with the flag or without; where nobody is, the flag decides. */
function choicesOf({ flags, ask }: Context, plan: InitPlan): InitChoices {
  const isAsked = ask !== undefined && !flags.yes
  return offeredChoices(plan, {
    mcp: !flags["no-mcp"],
    hooks: !flags["no-mcp"] && (flags.hooks || isAsked),
    schedule: !flags["no-schedule"],
  })
}

async function choose(context: Context, plan: InitPlan, ask: NonNullable<Context["ask"]>): Promise<InitChoices> {
  const offered = choicesOf(context, plan)
  const registrations: string[] = []
  for (const { adapter, title, file } of openRegistrations(plan)) {
    if (
      offered.registrations.includes(adapter) &&
      (await ask(`Add pond to ${title} (${context.page.path(file)})?`, MCP_EXPLANATION))
    )
      registrations.push(adapter)
  }
  const titles = plan.hooks.filter(({ adapter }) => offered.hooks.includes(adapter)).map(({ title }) => title)
  const isHooked =
    titles.length > 0 && (await ask(`Let ${listed(titles)} call pond before prompts (hooks)?`, HOOKS_EXPLANATION))
  const hooks = isHooked ? offered.hooks : []
  const every = everyText(plan.schedule.planned?.every_minutes ?? 0)
  const schedule =
    offered.schedule &&
    (isScheduled(plan) ||
      (await ask(`Sync automatically every ${every} (${plan.schedule.planned?.scheduler})?`, SCHEDULE_EXPLANATION)))
  return { registrations, hooks, schedule }
}

function listed(names: readonly string[]): string {
  return new Intl.ListFormat("en").format(names)
}

function isScheduled({ schedule: { now } }: InitPlan): boolean {
  return now.scheduled && now.trouble === null
}

const MCP_EXPLANATION =
  "Adds pond as an MCP server to the settings file, so that the agent can search past sessions. `pond init --undo` removes it."
const HOOKS_EXPLANATION =
  "Adds what earlier sessions of a project said to prompts that need it, and stores sessions as they end: `pond help recall`. `pond init --undo` removes it."
const SCHEDULE_EXPLANATION = "Runs `pond sync` in the background. `pond schedule stop` turns it off."
const SYNC_EXPLANATION = "Reads the sessions and stores a copy. The files of the clients are not changed."

/** Measured on stores of real sessions with their indexes: a quarter to a third of what the clients keep. */
const STORE_SHARE = 1 / 3

function firstSyncQuestion({ clients }: InitPlan): string {
  const read = clients.filter(({ enabled }) => enabled)
  const sessions = read.reduce((sum, client) => sum + client.sessions, 0)
  const bytes = read.reduce((sum, client) => sum + client.bytes, 0)
  const need = bytes === 0 ? "" : `, needs about ${bytesText(Math.ceil(bytes * STORE_SHARE))} of disk`
  return `Sync now (${counted(sessions, "session")}${need})?`
}

function outcomeOfPlan(context: Context, plan: InitPlan & { readonly applied: false }): Outcome {
  return {
    document: { ...plan },
    render: (page) =>
      `${renderPlan(context, plan, page)}\n${page.style.dim("No changes made. `pond init --yes` does all of this; `pond init` on a terminal asks step by step.")}\n`,
  }
}

// --- On paper ---------------------------------------------------------------------------------------------------------

function renderPlan(context: Context, plan: InitPlan, page: Page): string {
  const { style } = page
  const { config, schedule } = plan
  const offered = choicesOf(context, plan)
  const sets = Object.entries(config.sets).map(([key, value]) => `  ${key} = ${JSON.stringify(value)}\n`)
  const settings = config.exists ? "(exists)" : "(will be created)"
  return [
    `${style.bold("On this machine")}\n`,
    discoveredText(plan.clients, context.pond.host.clock.nowMs(), page),
    `\n${style.bold("Settings")}  ${page.path(config.path)} ${settings}\n`,
    ...sets.map(visibleLine).map((line) => `  ${line}\n`),
    `  store: ${page.path(config.store)}\n`,
    `\n${style.bold("MCP")}  so that agents can search past sessions\n`,
    ...plan.registrations.map((state) => registrationText(state, offered.registrations.includes(state.adapter), page)),
    plan.registrations.length === 0 ? "  no client here supports MCP\n" : "",
    withoutMcp(
      plan.clients.filter(({ found, enabled, mcp }) => found && enabled && !mcp),
      page,
    ),
    hooksText(plan.hooks, offered.hooks, page),
    `\n${page.prose(`${style.bold("Schedule")}  ${scheduleText(schedule, offered.schedule)}`, "  ")}\n`,
  ].join("")
}

/** Of what is here a line each; the many others are a number, since pond reads more clients than a screen has lines. */
function discoveredText(clients: InitPlan["clients"], nowMs: number, page: Page): string {
  const here = clients.filter(({ found, enabled }) => found || !enabled)
  const others = clients.length - here.length
  const shown = here.length === 0 ? "" : renderDiscovered(here, nowMs, page)
  if (others === 0) return shown
  const rest =
    here.length === 0
      ? `None of the ${others} clients that pond reads was found.`
      : `${counted(others, "other client")} that pond reads ${others === 1 ? "was" : "were"} not found.`
  return `${shown}${page.style.dim(page.prose(`${rest} \`pond adapters discover\` shows where pond looked.`))}\n`
}

function withoutMcp(clients: InitPlan["clients"], { prose }: Page): string {
  if (clients.length === 0) return ""
  const titles = clients.map(({ title }) => title).join(", ")
  const [does, it] = clients.length === 1 ? ["does", "it"] : ["do", "them"]
  const line = `  ${titles} ${does} not support MCP; the skill teaches ${it} to search: \`pond skill > SKILL.md\``
  return `${prose(line, "  ")}\n`
}

function registrationText(
  { title, file, status, wanted, why, command, by_hand }: RegistrationState,
  isOffered: boolean,
  page: Page,
): string {
  const { style, prose } = page
  const place = `  ${title}: ${page.path(file)}`
  const line = (text: string) => `${prose(`${place} ${text}`, "    ")}\n`
  const starts = visibleLine((command ?? ["no command"]).join(" "))
  if (status === "registered") return line("is already set up")
  if (status === "taken") return line(`has another server named "pond", left unchanged: ${starts}`)
  if (status === "unreadable")
    return `${line(`${style.magenta("cannot be edited safely")}: ${visibleLine(why ?? "")}`)}${byHandText(by_hand, wanted)}`
  if (!isOffered) return line("will not be changed")
  const verb = status === "outdated" ? `will be updated; it now starts ${starts}` : "will get this entry"
  return `${line(verb)}${style.dim(indentLines(wanted))}`
}

/** Nothing where no client has hooks. */
function hooksText(states: InitPlan["hooks"], offered: readonly string[], page: Page): string {
  if (states.length === 0) return ""
  const lines = states.map(({ adapter, title, file, status, why, next }) => {
    const line = (text: string) => `${page.prose(`  ${title}: ${page.path(file)} ${text}`, "    ")}\n`
    if (status === "registered") return line("is already set up")
    if (status === "taken") return line("was not created by pond, left unchanged")
    if (status === "unreadable")
      return line(`${page.style.magenta("cannot be edited safely")}: ${visibleLine(why ?? "")}`)
    if (!offered.includes(adapter)) return line("will not be changed; --hooks adds hooks")
    return line(`will get hooks${next === null ? "" : `. ${next}`}`)
  })
  return `\n${page.style.bold("Hooks")}  so that agents recall automatically (\`pond help recall\`)\n${lines.join("")}`
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
    return `${now.scheduler} already syncs every ${everyText(now.every_minutes ?? 0)}`
  if (next === null) return `none: ${visibleLine(why ?? "")}`
  return isOffered ? `${next.scheduler} will run \`pond sync\` every ${everyText(next.every_minutes)}` : "off"
}

function renderDone(done: InitDone, { style, prose }: Page): string {
  const lines: string[] = []
  if (done.config.changed)
    lines.push(`${done.config.made ? "Created" : "Updated"} settings: ${visibleLine(done.config.path)}`)
  lines.push(
    ...done.registrations
      .filter(({ change }) => change !== "none")
      .map((step) => stepText(step, style.magenta("failed"))),
    ...done.hooks
      .filter(({ change }) => change !== "none")
      .map((step) => stepText(step, style.magenta("failed"), "hooks of pond")),
  )
  if (done.schedule_failed !== null)
    lines.push(`${style.magenta("failed")}  schedule: ${visibleLine(done.schedule_failed)}`)
  else if (done.schedule.scheduled)
    lines.push(`Automatic sync every ${everyText(done.schedule.every_minutes ?? 0)} (${done.schedule.scheduler})`)
  if (lines.length === 0) lines.push("Everything is already set up")
  return lines.map((line) => `${prose(line, "  ")}\n`).join("")
}

function stepText(step: Step, failed: string, what = "pond"): string {
  const { title } = step
  if (step.change === "failed") return `${failed}  ${title}: ${visibleLine(step.why)}`
  const kept = step.backup === null ? "" : ` (backup: ${visibleLine(step.backup)})`
  const verbs = {
    added: `Added ${what} to`,
    updated: `Updated ${what} in`,
    removed: `Removed ${what} from`,
    none: "Left unchanged:",
  }
  return `${verbs[step.change]} ${title}: ${visibleLine(step.file)}${kept}`
}

function nextSteps({ registrations, hooks }: InitDone, { columns, style }: Page): string {
  const isAdded = [...registrations, ...hooks].some(({ change }) => change === "added" || change === "updated")
  const restart = isAdded ? " Restart agents that are running so that they see pond." : ""
  const text = `Next: \`pond search "a few words"\`, \`pond status\`.${restart} \`pond init --undo\` undoes all of this.`
  return `\n${wrapToWidth(text, Math.min(columns, 100)).map(style.dim).join("\n")}\n`
}

function outcomeOfUndo({ registrations, hooks, schedule_stopped, config_removed }: Undone): Outcome {
  const isWhole = [...registrations, ...hooks].every(({ change }) => change !== "failed")
  return {
    document: { registrations, hooks, schedule_stopped, config_removed },
    exitCode: isWhole ? 0 : EXIT_NOT_WHOLE,
    render: ({ style, prose }) => {
      const lines = [
        ...hooks.map((step) => stepText(step, style.magenta("failed"), "hooks of pond")),
        ...registrations.map((step) => stepText(step, style.magenta("failed"))),
      ]
      if (schedule_stopped) lines.push("Turned off automatic sync.")
      if (config_removed) lines.push("Removed the settings that init created.")
      if (lines.length === 0) lines.push("Nothing to undo.")
      lines.push("Stored sessions are kept. `pond config` shows the directory of the store.")
      return lines.map((line) => `${prose(line, "  ")}\n`).join("")
    },
  }
}
