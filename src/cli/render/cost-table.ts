/** Tokens and cost for people: rounded on a terminal, whole numbers elsewhere, and below it what the sums are made of. */
import { counted, countText, dollarText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import type { CostOutput, CostRow } from "../../operations/wire/cost.ts"
import type { Page } from "../verb.ts"
import { type Column, renderTable } from "./table.ts"

/** A narrower screen has no room for how many responses there were. */
const WIDTH_FULL = 96
const MODELS_NAMED_MAX = 5

const NUMBERS = ["responses", "input", "cache read", "cache write", "output", "cost"] as const

export function renderCost(answer: CostOutput, page: Page): string {
  const { by, rows, total } = answer
  const { columns, style } = page
  if (rows.length === 0) {
    return "No usage matches. `pond sync` stores new sessions, `pond status` shows the state of the store.\n"
  }
  const isNarrow = columns < WIDTH_FULL
  const isRounded = Number.isFinite(columns)
  const cells = (name: string, row: CostOutput["total"]) => {
    const numbers = numbersOf(row, isRounded)
    return [name, ...(isNarrow ? numbers.slice(1) : numbers)]
  }
  const titles = isNarrow ? NUMBERS.slice(1) : NUMBERS
  const shape: readonly Column[] = [
    { title: by, ...(by === "project" ? { cut: "front" as const } : {}) },
    ...titles.map((title) => ({ title, align: "right" as const, isFixed: true })),
  ]
  const body = rows.map((row) => cells(rowName(row, by), row))
  const sum = rows.length > 1 ? [cells("total", total)] : []
  const table = renderTable(shape, [...body, ...sum], { columns, head: style.bold })
  return `${table}${footer(answer, page)}`
}

function rowName({ key, short_id: short, title }: CostRow, by: string): string {
  return visibleLine(by === "session" ? [short ?? key, title].filter(Boolean).join("  ") : key) || "(unnamed)"
}

function numbersOf(row: CostOutput["total"], isRounded: boolean): string[] {
  const tokens = isRounded ? roundedText : countText
  const written = row.cache_write_tokens + row.cache_write_5m_tokens + row.cache_write_1h_tokens
  const classes = [row.input_tokens, row.cache_read_tokens, written, row.output_tokens]
  return [countText(row.responses), ...classes.map(tokens), costText(row)]
}

const UNITS = [
  { at: 1e9, unit: "G" },
  { at: 1e6, unit: "M" },
  { at: 1e3, unit: "k" },
]

function roundedText(count: number): string {
  const found = UNITS.find(({ at }) => count >= at)
  if (found === undefined) return String(count)
  const value = count / found.at
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(1)}${found.unit}`
}

/** A plus sign where something in it has no price. */
function costText(row: CostOutput["total"]): string {
  if (row.unpriced_responses === row.responses) return "unknown"
  return `${dollarText(row.cost_usd)}${row.unpriced_responses > 0 ? "+" : ""}`
}

function footer({ rows, rows_count: all, total, unpriced_models: unpriced, prices }: CostOutput, page: Page) {
  const { style, prose } = page
  const from = prices.file === undefined ? "" : ` in ${page.path(prices.file)}`
  const parts = [
    total.recorded_cost_usd > 0 ? `${dollarText(total.recorded_cost_usd)} recorded by clients` : "",
    total.priced_cost_usd > 0
      ? `${dollarText(total.priced_cost_usd)} from the prices of ${prices.retrieved}${from}`
      : "",
  ].filter(Boolean)
  const lines = [
    ...(rows.length < all ? [`${countText(all - rows.length)} rows not shown (--limit).`] : []),
    ...(parts.length === 0 ? [] : [`Cost: ${parts.join(", ")}.`]),
    ...(unpriced.length === 0 ? [] : [unpricedLine(unpriced)]),
  ]
  return lines.map((line) => `${style.dim(prose(line))}\n`).join("")
}

function unpricedLine(models: CostOutput["unpriced_models"]): string {
  const named = models
    .slice(0, MODELS_NAMED_MAX)
    .map(({ model, responses }) => `${visibleLine(model)} (${counted(responses, "response")})`)
  const more = models.length > named.length ? ` and ${models.length - named.length} more` : ""
  return `No price for ${named.join(", ")}${more}: not included in the cost. pond help prices shows how to add prices.`
}
