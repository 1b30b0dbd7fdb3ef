/** A change of a text as a diff: lines that went, lines that came, and a few around them. */
import { structuredPatch } from "diff"
import { highlight } from "./highlight.ts"

const CONTEXT_LINES = 3
/** Two texts that differ in more lines than this are shown one after the other. */
const DIFFERENCES_MAX = 5_000

const KINDS: Readonly<Record<string, string>> = { "+": "add", "-": "del" }

export interface DiffHtml {
  readonly html: string
  readonly added: number
  readonly removed: number
}

export function diffHtml(before: string, after: string, path: string): DiffHtml {
  const patch = structuredPatch("", "", before, after, "", "", {
    context: CONTEXT_LINES,
    maxEditLength: DIFFERENCES_MAX,
  })
  const kindOf = (line: string) => KINDS[line[0] ?? ""] ?? "ctx"
  const lines = patch?.hunks.map(({ lines: hunk }) => hunk) ?? [[...signed("-", before), ...signed("+", after)]]
  const shown = lines.map((hunk) => hunk.filter((line) => !line.startsWith("\\")))
  const rows = shown.map((hunk) =>
    hunk.map((line) => `<span class="${kindOf(line)}">${highlight(line.slice(1), path) || " "}</span>`).join(""),
  )
  const count = (kind: string) => shown.flat().filter((line) => kindOf(line) === kind).length
  const [added, removed] = [count("add"), count("del")]
  return { html: `<pre class="diff">${rows.join('<span class="gap">⋯</span>')}</pre>\n`, added, removed }
}

function signed(sign: string, text: string): string[] {
  return text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `${sign}${line}`)
}
