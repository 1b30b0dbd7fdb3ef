/**
 * A patch that does one thing is a write or an edit for the clients that have no tool for patches. One over several files,
 * one that moves or deletes, and one that only adds lines at a place that it names by a number of its own stay patches.
 */
import type { NeutralTool } from "./vocabulary.ts"

const BEGIN = "*** Begin Patch"
const END = "*** End Patch"
const OPERATION = /^\*\*\* (Add|Update) File: (.+)$/

export function toolOfPatch(patch: string): NeutralTool | undefined {
  const lines = patch.trim().split(/\r?\n/)
  if (lines[0]?.trim() !== BEGIN || lines.at(-1)?.trim() !== END) return undefined
  const [first, ...body] = lines.slice(1, -1)
  const [, operation, path] = OPERATION.exec(first ?? "") ?? []
  if (path === undefined) return undefined
  return operation === "Add" ? written(path, body) : editTool(path, body)
}

function written(path: string, body: readonly string[]): NeutralTool | undefined {
  if (!body.every((line) => line.startsWith("+"))) return undefined
  return { kind: "write", fields: { path, content: body.map((line) => `${line.slice(1)}\n`).join("") } }
}

interface Hunk {
  readonly before: string[]
  readonly after: string[]
}

function editTool(path: string, body: readonly string[]): NeutralTool | undefined {
  const hunks: Hunk[] = []
  for (const line of body) {
    if (line.startsWith("@@")) hunks.push({ before: [], after: [] })
    else if (line !== "*** End of File" && !addLine(hunks, line)) return undefined
  }
  const edits = hunks.map(({ before, after }) => ({ old: before.join("\n"), new: after.join("\n") }))
  const isWhole = edits.length > 0 && edits.every(({ old }) => old !== "")
  return isWhole ? { kind: "edit", fields: { path, edits } } : undefined
}

/** The first hunk may stand without a heading, and an empty line of the file may have lost its mark. */
function addLine(hunks: Hunk[], line: string): boolean {
  const mark = line[0] ?? " "
  if (mark !== " " && mark !== "-" && mark !== "+") return false
  if (hunks.length === 0) hunks.push({ before: [], after: [] })
  const hunk = hunks.at(-1)
  if (mark !== "+") hunk?.before.push(line.slice(1))
  if (mark !== "-") hunk?.after.push(line.slice(1))
  return true
}
