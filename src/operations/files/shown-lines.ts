/**
 * The lines that a result showed an agent: those of the text, without the numbers that most clients put before the lines of a
 * file, and those of texts inside a JSON document, which is what some clients answer. A line that is missed here may be taken
 * for the agent's own: Vibe's `read_file` answers in JSON, and two lines of a person were.
 */
import { splitLines } from "./line-history.ts"

export function shownLines(text: string): readonly string[] {
  return textsOf(text).flatMap((each) =>
    splitLines(each).flatMap((line) => [line.trim(), line.replace(/^\s*\d+(?:→|\t|\||:|\.)\s?/, "").trim()]),
  )
}

function textsOf(text: string): readonly string[] {
  if (!/^\s*[[{]/.test(text)) return [text]
  try {
    return [text, ...stringsIn(JSON.parse(text))]
  } catch {
    // Cut off, or of several documents.
    return [text, text.replace(/\\(["\\/nt])/g, (_, sign: string) => UNESCAPED[sign] ?? sign)]
  }
}

const UNESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t" }

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : []
}
