/**
 * What one finished tool call did to files, whichever client made it: read, written, edited, deleted. Made of the call and
 * of what the client recorded of the file (`files.ts` of each adapter). A call whose effect is not certain gives nothing.
 */
import type { FileRecord } from "../../adapters/adapter.ts"
import { type PatchSection, parsePatch } from "../../adapters/shared/patches.ts"
import { readTool, type Vocabulary } from "../../adapters/shared/vocabulary.ts"
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"

export interface TextEdit {
  readonly old: string
  readonly new: string
  /** Every occurrence is replaced, not the only one. */
  readonly isEvery: boolean
  /** Both are whole lines: a patch replaces no part of a line. */
  readonly isLines: boolean
}

export type FileChange = { readonly path: string } & (
  | { readonly kind: "read"; readonly whole: string | undefined }
  | {
      readonly kind: "write"
      readonly content: string
      /** Null: there was no file. Undefined: the client did not record it. */
      readonly before: string | null | undefined
    }
  | { readonly kind: "edit"; readonly edits: readonly TextEdit[]; readonly before: string | undefined }
  | { readonly kind: "delete" }
)

export interface FinishedCall {
  readonly name: string
  readonly params: JsonValue
  readonly vocabulary: Vocabulary
  readonly record: FileRecord | undefined
}

export function changesOf(call: FinishedCall): readonly FileChange[] {
  const read = readTool(call.vocabulary, call.name, call.params)
  if (read === undefined) return []
  const { kind, fields } = read.tool
  if (kind === "patch") return patchChanges(String(fields["patch"]))
  if (kind === "shell") return shellChanges(String(fields["command"]), fields["directory"])
  const path = fields["path"]
  if (typeof path !== "string" || path === "") return []
  if (kind === "read") return [{ kind, path, whole: call.record?.whole }]
  if (kind === "edit") return editChanges(path, fields, call.record)
  if (kind !== "write" || typeof fields["content"] !== "string") return []
  return [{ kind, path, content: fields["content"], before: call.record?.before }]
}

function editChanges(path: string, fields: JsonObject, record: FileRecord | undefined): readonly FileChange[] {
  const edits = Array.isArray(fields["edits"]) ? fields["edits"].flatMap(editOf) : []
  const [first] = edits
  // An edit of nothing is how some clients make a file.
  if (edits.length === 1 && first?.old === "")
    return [{ kind: "write", path, content: first.new, before: record?.before }]
  return edits.length === 0 ? [] : [{ kind: "edit", path, edits, before: record?.before ?? undefined }]
}

function editOf(edit: JsonValue): readonly TextEdit[] {
  if (!isJsonObject(edit) || typeof edit["old"] !== "string" || typeof edit["new"] !== "string") return []
  return [{ old: edit["old"], new: edit["new"], isEvery: edit["all"] === true, isLines: false }]
}

// --- Patches -----------------------------------------------------------------------------------------------------------

function patchChanges(patch: string): readonly FileChange[] {
  return (parsePatch(patch) ?? []).flatMap(sectionChanges)
}

function sectionChanges(section: PatchSection): readonly FileChange[] {
  const { path } = section
  // Codex adds a file over one that is there, and says the same of it.
  if (section.kind === "add") return [{ kind: "write", path, content: section.content, before: undefined }]
  if (section.kind === "delete") return [{ kind: "delete", path }]
  const edits = section.hunks.map(({ before, after }) => ({
    old: before.join("\n"),
    new: after.join("\n"),
    isEvery: false,
    isLines: true,
  }))
  if (section.movedTo === undefined) return [{ kind: "edit", path, edits, before: undefined }]
  return [
    { kind: "delete", path },
    { kind: "edit", path: section.movedTo, edits, before: undefined },
  ]
}

// --- Commands -----------------------------------------------------------------------------------------------------------

const PATCH_IN_COMMAND = /\*\*\* Begin Patch[\s\S]*?\n\*\*\* End Patch/g
const HERE_DOCUMENT = /(?:^|\n|&& *|; *)cat *> *(["']?)([^\s"'<>|&;]+)\1 *<<-?(["']?)(\w+)\3\n([\s\S]*?)\n?^\4$/gm

/** Of a command line, two forms are certain: a patch inside it, and `cat > FILE` with a text that the shell leaves alone. */
function shellChanges(command: string, directory: JsonValue | undefined): readonly FileChange[] {
  const folder = typeof directory === "string" ? directory : changedDirectory(command)
  if (folder === undefined) return []
  const patches = [...command.matchAll(PATCH_IN_COMMAND)].flatMap(([patch]) => patchChanges(patch))
  const written = [...command.matchAll(HERE_DOCUMENT)].flatMap(([, , path = "", quote, , body = ""]): FileChange[] => {
    const isLiteral = quote !== "" || !/[$`\\]/.test(body)
    const content = body === "" ? "" : `${body}\n`
    return isLiteral ? [{ kind: "write", path, content, before: undefined }] : []
  })
  return [...patches, ...written].map((change) => ({ ...change, path: joinPath(folder, change.path) }))
}

/** Where the command works: "" is where the session does. Undefined where a `cd` makes that uncertain. */
function changedDirectory(command: string): string | undefined {
  const [first, ...others] = command.match(/(?:^|[;&|(\n]\s*)cd\s+[^\s;&|)]+/g) ?? []
  if (first === undefined) return ""
  const to = /^cd\s+([^\s;&|)$`"']+)$/.exec(first)?.[1]
  return others.length === 0 ? to : undefined
}

function joinPath(folder: string, path: string): string {
  return folder === "" || isAbsolute(path) ? path : `${folder.replace(/[\\/]+$/, "")}/${path}`
}

export function isAbsolute(path: string): boolean {
  return /^(?:[\\/~]|[A-Za-z]:[\\/])/.test(path)
}
