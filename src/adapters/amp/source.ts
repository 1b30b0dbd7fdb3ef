/**
 * Where Amp kept its threads until spring 2026: one document for each in `~/.local/share/amp/threads`, and in the storage of
 * an editor. A key, a login and prompts of all threads lie beside that folder and are never looked at.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceUnit } from "../adapter.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { roots } from "./roots.ts"

const FOLDERS = ["threads", "threads3", "threads-development"]
const THREAD = /(?:^|\/)[\w-]+\.json$/
const IN_FOLDER = new RegExp(`^(?:${FOLDERS.join("|")})/[\\w-]+\\.json$`)
const GIVEN_DEPTH = 8

export const source: Source = { roots, plan }

export function concerns(root: string, place: string): boolean {
  return FOLDERS.some((name) => place === name || place.startsWith(`${name}/`)) || !isHome(root)
}

function isHome(root: string): boolean {
  return FOLDERS.some((name) => existsSync(join(root, name)))
}

function plan(root: string): (SourceUnit | Issue)[] {
  const pattern = isHome(root) ? IN_FOLDER : THREAD
  const accepts = (place: string) => pattern.test(place)
  const all = filesBelow(root, { form: "document", depthMax: isHome(root) ? 1 : GIVEN_DEPTH, accepts })
  return all.map((file) => (isIssue(file) ? file : { key: file.relativePath, root, files: [file] }))
}
