/** `pond optimize`: indexes built and folded, fragments compacted, old versions cleaned; and what that gained. */

import { bytesText, countText } from "../../model/numbers.ts"
import { perform } from "../../operations/operation.ts"
import type { OptimizedTable, OptimizeReport } from "../../operations/store/optimize.ts"
import { optimize as operation } from "../../operations/store/store-operations.ts"
import { NO_FLAGS } from "../flags.ts"
import { renderTable } from "../render/table.ts"
import { defineVerb, type Page } from "../verb.ts"

export const optimize = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["optimize", "optimize --json"],
  run: async ({ pond, progress, signal }) => {
    const onTable = (name: string) => progress.stage(name, "rows", undefined)
    const report = await perform(operation, { pond, signal, onTable }, {})
    return { document: { ...report }, render: (page) => render(report, page) }
  },
})

const RIGHT = { align: "right", isFixed: true } as const

function render({ tables, ms }: OptimizeReport, { style, columns }: Page): string {
  if (tables.length === 0) return "The store is empty. Run `pond sync`.\n"
  const rows = tables.map((table) => [
    table.table,
    countText(table.rows),
    change(table, ({ bytes }) => bytes && bytes.live + bytes.dead, bytesText),
    change(table, ({ pieces }) => pieces, countText),
    change(table, ({ waiting }) => waiting, countText),
    table.isBusy ? "another pond is working on it" : seconds(table.steps.reduce((sum, step) => sum + step.ms, 0)),
  ])
  const titles = [{ title: "table", isFixed: true }, ...["rows", "size", "pieces", "not indexed", "time"].map(right)]
  const freed = tables.reduce((sum, { before, after }) => sum + total(before) - total(after), 0)
  const gained = freed > 0 ? `${bytesText(freed)} freed` : "Nothing to free"
  return `${renderTable(titles, rows, { columns, head: style.bold })}${gained}, in ${seconds(ms)}.\n`
}

const right = (title: string) => ({ title, ...RIGHT })

function change(
  { before, after }: OptimizedTable,
  read: (shape: OptimizedTable["before"]) => number | null,
  spell: (value: number) => string,
): string {
  const [was, is] = [read(before), read(after)]
  if (was === null || is === null) return "-"
  return was === is ? spell(is) : `${spell(was)} → ${spell(is)}`
}

function total({ bytes }: OptimizedTable["before"]): number {
  return bytes === null ? 0 : bytes.live + bytes.dead
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
