/** What a Markdown document is put together from. Whatever a text holds, it stays in the block that it is given here. */
import { visible, visibleLine } from "../../model/visible.ts"

/** Where a list begins its items so far in, tabs keep their stops in them. */
const INDENT = "    "

/** Its lines as they are, in a fence that no run of backticks in them can end. */
export function fence(text: string, language = ""): string[] {
  const lines = visible(text).replace(/\n$/, "").split("\n")
  const marks = "`".repeat(Math.max(3, longestRun(text) + 1))
  return [`${marks}${language}`, ...lines, marks]
}

/** One line, as code. */
export function inlineCode(text: string): string {
  const line = visibleLine(text)
  const signs = "`".repeat(longestRun(line) + 1)
  const space = line === "" || line.includes("`") ? " " : ""
  return `${signs}${space}${line}${space}${signs}`
}

/** What Markdown makes something of in the middle of a line, addresses without brackets among it. */
const MEANT = /[\\`*_[\]<>&~|$#!"]|(?<=:)\/\/|(?<=www)\./gi

/** One line that means itself, whatever Markdown and HTML make of its signs. It is for no beginning of a line. */
export function escapeInline(text: string): string {
  return visibleLine(text).replace(MEANT, (sign) => HTML[sign] ?? `\\${sign}`)
}

const HTML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

/** A line that opens, and what it then shows. */
export function collapse(summary: string, note: string, blocks: readonly (readonly string[])[]): string[] {
  const about = note === "" ? "" : ` <code>${html(note)}</code>`
  return ["<details>", `<summary>${html(summary)}${about}</summary>`, "", ...joinBlocks(blocks), "", "</details>"]
}

function html(text: string): string {
  return visibleLine(text).replace(/[&<>"]/g, (sign) => HTML[sign] ?? sign)
}

/** One block below the other. */
export function joinBlocks(blocks: readonly (readonly string[])[]): string[] {
  return blocks.filter((block) => block.length > 0).flatMap((block, index) => (index === 0 ? block : ["", ...block]))
}

/** The item of a list that blocks of one voice stand in; they follow with `within`. */
export function listItem(head: string): string {
  return `-   ${head}\n`
}

export function indent(block: readonly string[]): string {
  return `\n${block.map((line) => (line === "" ? "" : `${INDENT}${line}`)).join("\n")}\n`
}

function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}
