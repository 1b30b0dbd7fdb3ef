/** `pond schedule`: syncing by itself, through what the system has for that. */
import { visibleLine } from "../../model/visible.ts"
import type { ScheduleStatus } from "../../operations/machine/schedule.ts"
import { scheduleLogs, scheduleStart, scheduleStatus, scheduleStop } from "../../operations/machine/setup-operations.ts"
import { perform } from "../../operations/operation.ts"
import { NO_FLAGS } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { localTimeText } from "../render/dates.ts"
import { everyText, outcomeText, recordText } from "../render/sync-text.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Page } from "../verb.ts"

const startArguments = argumentsFor(scheduleStart.input, {
  every: { field: ["every_minutes"], duration: "m" },
  with: {},
  "dry-run": {},
})

export const start = defineVerb({
  flags: startArguments.flags,
  positionals: [],
  examples: ["schedule start", "schedule start --every 1h", "schedule start --with cron --dry-run"],
  run: async (context) => {
    const status = await perform(scheduleStart, context, startArguments.inputOf(context))
    if ("dry_run" in status) {
      const plan = status
      return {
        document: { ...plan },
        render: ({ style }) => {
          const files = plan.files.map(({ path, text }) => `${style.bold(visibleLine(path))}\n${text}\n`)
          return `${files.join("")}${style.dim(`Dry run: nothing was written. ${plan.scheduler} would run \`${plan.command.join(" ")}\` every ${everyText(plan.every_minutes)}.`)}\n`
        },
      }
    }
    return { document: { ...status }, exitCode: status.active ? 0 : 4, render: (page) => renderSchedule(status, page) }
  },
})

export const stop = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["schedule stop"],
  run: async ({ pond, signal }) => {
    const { stopped } = await perform(scheduleStop, { pond, signal }, {})
    return {
      document: { stopped },
      render: () => (stopped ? "Automatic sync is off. Stored sessions are kept.\n" : "Nothing was scheduled.\n"),
    }
  },
})

export const status = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["schedule status", "schedule status --json"],
  run: async ({ pond, signal }) => {
    const state = await perform(scheduleStatus, { pond, signal }, {})
    const { last_sync: last } = state
    return {
      document: { ...state },
      exitCode: state.trouble === null ? 0 : 4,
      render: (page) =>
        `${renderSchedule(state, page)}${last === null ? "" : `Last sync: ${recordText(last, pond.host.clock.nowMs())}\n`}`,
    }
  },
})

const logsArguments = argumentsFor(scheduleLogs.input, { limit: {} })

export const logs = defineVerb({
  flags: logsArguments.flags,
  positionals: [],
  examples: ["schedule logs", "schedule logs --limit 5"],
  run: async (context) => {
    const logged = await perform(scheduleLogs, context, logsArguments.inputOf(context))
    const { syncs: records, log_command: command, log_file: file } = logged
    return {
      document: { ...logged },
      render: ({ style, columns }: Page) => {
        if (records.length === 0) return "No sync has run yet. `pond sync` runs one now.\n"
        const rows = records.map((record) => [
          localTimeText(Date.parse(record.at)),
          outcomeText(record),
          `${(record.ms / 1000).toFixed(1)} s`,
          visibleLine(record.store),
        ])
        const shape = [
          { title: "time", isFixed: true },
          { title: "what" },
          { title: "took", isFixed: true },
          { title: "store" },
        ]
        const more = command === null ? file : command.join(" ")
        const table = renderTable(shape, rows, { columns, head: style.bold })
        return `${table}${more === null ? "" : style.dim(`Full log: ${more}\n`)}`
      },
    }
  },
})

function renderSchedule(
  { scheduled, scheduler, every_minutes, command, trouble }: ScheduleStatus,
  { style }: Page,
): string {
  if (!scheduled) return "Automatic sync is off. `pond schedule start` turns it on, every 15 minutes.\n"
  const line = `${scheduler} runs \`${visibleLine(command.join(" "))}\` every ${everyText(every_minutes ?? 0)}.\n`
  const lingers =
    scheduler === "systemd" && trouble === null
      ? style.dim("It runs only while you are logged in; `loginctl enable-linger` changes that.\n")
      : ""
  return trouble === null
    ? `${line}${lingers}`
    : `${line}${style.magenta("warning")}  ${visibleLine(trouble)}. \`pond schedule start\` fixes it.\n`
}
