/**
 * Patches in the `*** Begin Patch` form, which may add, change, delete and move several files at once.
 *
 * A patch that does one thing is a write or an edit for the clients that have no tool for patches. One over several files,
 * one that moves or deletes, and one that only adds lines at a place that it names by its own number stay patches.
 */
import type { NeutralTool } from "./vocabulary.ts"

const BEGIN = "*** Begin Patch"
const END = "*** End Patch"
const SECTION = /^\*\*\* (Add|Update|Delete) File: (.+)$/
const MOVE = /^\*\*\* Move to: (.+)$/

/** Lines of the file that a hunk replaces, and what it puts there. */
export interface Hunk {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** What a patch does to one file. */
export type PatchSection =
  | { readonly kind: "add"; readonly path: string; readonly content: string }
  | {
      readonly kind: "update"
      readonly path: string
      readonly hunks: readonly Hunk[]
      readonly movedTo: string | undefined
    }
  | { readonly kind: "delete"; readonly path: string }

/** Undefined where some line of it is not of this form. */
export function parsePatch(patch: string): readonly PatchSection[] | undefined {
  const lines = patch.trim().split(/\r?\n/)
  if (lines[0]?.trim() !== BEGIN || lines.at(-1)?.trim() !== END) return undefined
  const sections: { heading: RegExpExecArray; body: string[] }[] = []
  for (const line of lines.slice(1, -1)) {
    const heading = SECTION.exec(line)
    if (heading !== null) sections.push({ heading, body: [] })
    else if (sections.length === 0) return undefined
    else sections.at(-1)?.body.push(line)
  }
  const parsed = sections.map(({ heading: [, kind, path = ""], body }) => parseSection(kind ?? "", path, body))
  return parsed.every((section) => section !== undefined) ? parsed : undefined
}

function parseSection(kind: string, path: string, body: readonly string[]): PatchSection | undefined {
  if (kind === "Delete") return body.length === 0 ? { kind: "delete", path } : undefined
  if (kind === "Add") {
    if (!body.every((line) => line.startsWith("+"))) return undefined
    return { kind: "add", path, content: body.map((line) => `${line.slice(1)}\n`).join("") }
  }
  const movedTo = MOVE.exec(body[0] ?? "")?.[1]
  const hunks = parseHunks(movedTo === undefined ? body : body.slice(1))
  return hunks === undefined ? undefined : { kind: "update", path, hunks, movedTo }
}

function parseHunks(body: readonly string[]): readonly Hunk[] | undefined {
  const hunks: { before: string[]; after: string[] }[] = []
  for (const line of body) {
    if (line === "*** End of File") continue
    // The first hunk may stand without a heading.
    if (line.startsWith("@@") || hunks.length === 0) hunks.push({ before: [], after: [] })
    if (line.startsWith("@@")) continue
    // An empty line of the file may have lost its mark.
    const mark = line[0] ?? " "
    if (mark !== " " && mark !== "-" && mark !== "+") return undefined
    const hunk = hunks.at(-1)
    if (mark !== "+") hunk?.before.push(line.slice(1))
    if (mark !== "-") hunk?.after.push(line.slice(1))
  }
  return hunks
}

export function toolOfPatch(patch: string): NeutralTool | undefined {
  const [section, ...others] = parsePatch(patch) ?? []
  if (section === undefined || others.length > 0) return undefined
  if (section.kind === "add") return { kind: "write", fields: { path: section.path, content: section.content } }
  if (section.kind === "delete" || section.movedTo !== undefined) return undefined
  const edits = section.hunks.map(({ before, after }) => ({ old: before.join("\n"), new: after.join("\n") }))
  const isWhole = edits.length > 0 && edits.every(({ old }) => old !== "")
  return isWhole ? { kind: "edit", fields: { path: section.path, edits } } : undefined
}
