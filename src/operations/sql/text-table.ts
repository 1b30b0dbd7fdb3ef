/** Rows as a table of text, bounded in width: for people, and for models that read one. */
import { visible } from "../../model/visible.ts"
import { type Cell, type Column, cellText, type Row } from "./answer.ts"

const WIDTH_MAX = 60

export function textTable(columns: readonly Column[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((_, index) => cell(row[index] ?? null)))
  const heads = columns.map(({ name }) => oneLine(name))
  const widths = heads.map((head, index) =>
    Math.max(Bun.stringWidth(head), ...cells.map((row) => Bun.stringWidth(row[index] ?? ""))),
  )
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => text + " ".repeat(Math.max(0, (widths[index] ?? 0) - Bun.stringWidth(text))))
      .join(" | ")
      .trimEnd()
  const ruled = widths.map((width) => "-".repeat(width)).join("-+-")
  return [line(heads), ruled, ...cells.map(line)].map((text) => `${text}\n`).join("")
}

function cell(value: Cell): string {
  return value === null ? "NULL" : oneLine(cellText(value))
}

/** What a transcript holds can neither break a line nor reach a terminal as a control character. */
function oneLine(text: string): string {
  const shown = visible(text.replace(/\r\n|\r|\n/g, "\\n").replace(/\t/g, "\\t"))
  const graphemes = [...shown]
  return graphemes.length <= WIDTH_MAX ? shown : `${graphemes.slice(0, WIDTH_MAX - 1).join("")}…`
}
