/**
 * Where Amp kept its threads until spring 2026: one document for each in `~/.local/share/amp/threads`, and in the storage of
 * an editor. A key, a login and prompts of all threads lie beside that folder and are never looked at. Since then they lie with
 * its server: what `amp threads export` printed has the same form, and is named with `--path`.
 */
import { existsSync } from "node:fs"
import { basename, join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceUnit } from "../adapter.ts"
import { pointedSource } from "../shared/pointed-files.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { roots } from "./roots.ts"

const FOLDERS = ["threads", "threads3", "threads-development"]
const IN_FOLDER = new RegExp(`^(?:${FOLDERS.join("|")})/T-[\\w-]+\\.json$`)

/** In a folder that somebody points at, files that are named after a thread; a file of any name that begins as one. */
const exported = pointedSource({
  names: /(?:^|\/)T-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.json$/i,
  opening: /"id"\s*:\s*"T-[\da-f]{8}-/i,
  formOf: () => "document",
  endingOf: () => ".json",
})

export const source: Source = { ...exported, roots, plan: planThreads }

export function concerns(root: string, place: string): boolean {
  return FOLDERS.some((name) => place === name || place.startsWith(`${name}/`)) || !isHome(root)
}

function isHome(root: string): boolean {
  return FOLDERS.some((name) => existsSync(join(root, name)))
}

async function* planThreads(root: string): AsyncGenerator<SourceUnit | Issue> {
  if (!isHome(root)) {
    for await (const found of exported.plan(root)) yield "files" in found ? inThreads(found) : found
    return
  }
  const accepts = (place: string) => IN_FOLDER.test(place)
  for (const file of filesBelow(root, { form: "document", depthMax: 1, accepts }))
    yield isIssue(file) ? file : { key: file.relativePath, root, files: [file] }
}

/** A restore writes threads into their folder alone. */
function inThreads(unit: SourceUnit): SourceUnit {
  const files = unit.files.map((file) => ({ ...file, relativePath: `threads/${basename(file.relativePath)}` }))
  return { ...unit, files }
}
