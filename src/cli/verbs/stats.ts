/** `pond stats`: how much there is, by day, project, client, tool or model. */
import type { Static } from "typebox"
import { PondError } from "../../model/errors.ts"
import { counted, countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { given } from "../../operations/fields.ts"
import { perform } from "../../operations/operation.ts"
import type { Stats } from "../../operations/store/session-statistics.ts"
import { stats as operation } from "../../operations/wire/stats.ts"
import { DATE_WORDS, flag } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Page } from "../verb.ts"
import { showCost } from "./cost.ts"

const ROWS_DEFAULT = 30
const BAR_CELLS = 30
const BAR_CELLS_MIN = 6
const GAP_CELLS = 2
const BAR = "▇"
const COUNTED = { day: "messages", project: "messages", agent: "messages", tool: "calls", model: "records" } as const

/** A client is called `agent` in requests and answers. */
const BY = ["day", "project", "client", "tool", "model"] as const

const args = argumentsFor(operation.input, {
  by: { ...flag.choice("What to group by (default: day).", BY), field: "by" },
  from: {
    hint: "DATE",
    day: "start",
    summary: `On or after this day: ${DATE_WORDS}.`,
  },
  to: { hint: "DATE", day: "end" },
  limit: flag.wholeNumber(`Maximum number of rows to show (default: ${ROWS_DEFAULT}). --json has all.`, { min: 1 }),
  cost: flag.onOff("Count tokens and cost instead, as `pond cost` does."),
})

export const stats = defineVerb({
  flags: args.flags,
  positionals: [],
  examples: [
    "stats",
    "stats --by tool",
    "stats --by project --from 2026-01-01",
    "stats --by model --json",
    "stats --cost",
  ],
  run: async (context) => {
    const { flags, signal } = context
    const by = flags.by === "client" ? "agent" : flags.by
    const input = { ...args.inputOf(context), ...given("by", by) }
    if (flags.cost)
      return await showCost(context, { ...costInput(input as StatsInput), ...given("limit", flags.limit) })
    const answer = await perform(operation, context, input)
    if (signal.aborted) throw new PondError("interrupted", "Interrupted.")
    return { document: { ...answer }, render: (page) => renderStats(answer, flags.limit ?? ROWS_DEFAULT, page) }
  },
})

type StatsInput = Static<typeof operation.input>

function costInput({ by = "day", from, to }: StatsInput): object {
  if (by === "tool") {
    throw new PondError("validation_failed", "Clients do not record what a tool costs. Use --by model, day or project.")
  }
  const filters = { ...given("from_date", from), ...given("to_date", to) }
  return { by: by === "agent" ? "client" : by, filters }
}

export function renderStats(
  { by, rows, sessions, count }: Stats,
  limit: number,
  { style, columns, prose }: Page,
): string {
  if (rows.length === 0)
    return "Nothing matches. `pond sync` stores new sessions, `pond status` shows the state of the store.\n"
  // Of days the last ones are asked for, of all else the first.
  const shown = by === "day" ? rows.slice(-limit) : rows.slice(0, limit)
  const most = Math.max(...shown.map((row) => row.count))
  const cells = shown.map((row) => [
    visibleLine(row.key) || "(unnamed)",
    countText(row.sessions),
    countText(row.count),
    ...(by === "tool" ? [countText(row.failures ?? 0)] : []),
  ])
  const titles = [by, "sessions", COUNTED[by], ...(by === "tool" ? ["failed"] : [])]
  const shape = titles.map((title, index) => ({
    title,
    isFixed: index > 0,
    align: index > 0 ? ("right" as const) : ("left" as const),
    ...(by === "project" ? { cut: "front" as const } : {}),
  }))
  const room = roomForBars([titles, ...cells], columns)
  const bars = shown.map((row) => BAR.repeat(Math.max(1, Math.round((row.count / most) * room))))
  const more = rows.length > shown.length ? `, ${countText(rows.length - shown.length)} rows not shown (--limit)` : ""
  const sum = `${countText(count)} ${COUNTED[by]} in ${counted(sessions, "session")}${more}.`
  const rowsWithBars = cells.map((row, index) => [...row, bars[index] ?? ""])
  return `${renderTable([...shape, { title: "" }], rowsWithBars, { columns, head: style.bold })}${style.dim(prose(sum))}\n`
}

/** Bars that were cut would be of one length: they share what the other columns leave. */
function roomForBars(rows: readonly (readonly string[])[], columns: number): number {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => Bun.stringWidth(row[index] ?? ""))))
  const left = columns - widths.reduce((sum, width) => sum + width + GAP_CELLS, 0)
  return Math.max(BAR_CELLS_MIN, Math.min(BAR_CELLS, left))
}
