/** The page that lists exported sessions, newest first, each with a link to its own page. */
import { bytesText, counted } from "../../../model/numbers.ts"
import { visibleLine } from "../../../model/visible.ts"
import { timeText } from "../transcript-items.ts"
import { escapeHtml } from "./escape.ts"
import { closePage, INDEX_PAGE, openPage } from "./page-frame.ts"

/** Its texts are cleaned already. */
export interface IndexRow {
  readonly href: string
  readonly name: string
  readonly client: string
  readonly project: string
  readonly begun: string
  readonly messages: number
  readonly bytes: number
  /** Empty where no tokens were recorded. */
  readonly tokens: string
}

export function indexHtml(title: string, rows: readonly IndexRow[], note: string): string {
  const newest = rows.toSorted((left, right) => (left.begun < right.begun ? 1 : -1))
  const days = Map.groupBy(newest, ({ begun }) => begun.slice(0, "2026-01-31".length))
  const listed = [...days].map(
    ([day, own]) => `<section><h2>${escapeHtml(day)}</h2><ul>${own.map(rowHtml).join("")}</ul></section>\n`,
  )
  const messages = rows.reduce((all, row) => all + row.messages, 0)
  const sum = `${counted(rows.length, "session")}, ${counted(messages, "message")}`
  const name = escapeHtml(visibleLine(title))
  return `${openPage(visibleLine(title), INDEX_PAGE)}<header><h1>${name}</h1><p>${sum}</p></header>
<main>
${listed.join("")}</main>
${closePage(note, INDEX_PAGE)}`
}

function rowHtml({ href, name, client, project, begun, messages, bytes, tokens }: IndexRow): string {
  const facts = [client, project, `${timeText(begun)} UTC`, counted(messages, "message"), tokens, bytesText(bytes)]
  const shown = facts.filter((fact) => fact !== "").map((fact) => `<span>${escapeHtml(visibleLine(fact))}</span>`)
  return `<li><a href="${escapeHtml(href)}">${escapeHtml(visibleLine(name))}</a><p>${shown.join(" ")}</p></li>`
}
