/**
 * Where iFlow keeps its sessions: `projects/<key>/session-<uuid>.jsonl` below `~/.iflow`. Logins, settings with a key in them,
 * prompts of all sessions and copies of files lie beside that folder.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceUnit } from "../adapter.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { roots } from "./roots.ts"

const PROJECTS = "projects"
const SESSION = /(?:^|\/)session-[0-9a-f-]{32,36}\.jsonl$/i
const GIVEN_DEPTH = 8

export const source: Source = { roots, plan }

export function concerns(root: string, place: string): boolean {
  return place === PROJECTS || place.startsWith(`${PROJECTS}/`) || !existsSync(join(root, PROJECTS))
}

function plan(root: string): (SourceUnit | Issue)[] {
  const isHome = existsSync(join(root, PROJECTS))
  const accepts = (place: string) => SESSION.test(place) && (!isHome || place.startsWith(`${PROJECTS}/`))
  const all = filesBelow(root, { form: "log", depthMax: isHome ? 2 : GIVEN_DEPTH, accepts })
  return all.map((file) => (isIssue(file) ? file : { key: file.relativePath, root, files: [file] }))
}
