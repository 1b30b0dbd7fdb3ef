/**
 * Where pi keeps its sessions: `<agent directory>/sessions/--<cwd, its separators as dashes>--/<time>_<id>.jsonl`, or
 * flat in one directory where a variable names it. `auth.json` lies one level above the root and is never looked at;
 * beside the sessions of oh-my-pi lie logins, settings and what its tools put away.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import type { Brand } from "./brands.ts"

/** Extensions put the sessions of their sub-agents into directories beside the one that started them; a given root may be any. */
const DEPTH_MAX = 16

export function brandSource({ roots, sessions }: Brand): Source {
  const plan = (root: string): (SourceUnit | Issue)[] => {
    const isGiven = sessions === "" || !existsSync(join(root, sessions))
    const all = (isGiven ? filesOf(root) : filesOf(join(root, sessions.slice(0, -1)))).map((each) =>
      inFolder(each, isGiven ? "" : sessions),
    )
    const beside = sessions === "" ? NOTHING_BESIDE : besideOf(all)
    return all.flatMap((found): (SourceUnit | Issue)[] => {
      if (isIssue(found)) return [found]
      if (!isLog(found.relativePath)) return []
      const key = found.relativePath
      return [{ key, root, files: [found, ...(beside.get(key.replace(/\.jsonl$/, "")) ?? [])] }]
    })
  }
  const isOwn = sessions === "" ? isLog : (place: string) => isLog(place) || BESIDE.test(place)
  const filesOf = (root: string) => filesBelow(root, { form: "log", depthMax: DEPTH_MAX, accepts: isOwn })
  return { roots, plan }
}

/** What the tools and the agents of a session put away, in the folder that is called after its log. */
const BESIDE = /\/[\w-]+(?:\.[\w-]+)*\.(?:md|log|txt|json)$/
const NOTHING_BESIDE: ReadonlyMap<string, readonly SourceFile[]> = new Map()

/** By the folder that they lie in. */
function besideOf(all: readonly (SourceFile | Issue)[]): ReadonlyMap<string, readonly SourceFile[]> {
  const files = all.filter((found): found is SourceFile => !isIssue(found) && !isLog(found.relativePath))
  const texts = files.map((file) => ({ ...file, form: "text" as const }))
  return Map.groupBy(texts, ({ relativePath }) => relativePath.slice(0, relativePath.lastIndexOf("/")))
}

function inFolder(found: SourceFile | Issue, folder: string): SourceFile | Issue {
  if (!isIssue(found)) return { ...found, relativePath: `${folder}${found.relativePath}` }
  return { ...found, file: `${folder}${found.file}` }
}

/** What oh-my-pi writes all the time beside its sessions is none of theirs. */
export function concernsOf({ sessions }: Brand): (root: string, place: string) => boolean {
  return (root, place) => place.startsWith(sessions) || `${place}/` === sessions || !existsSync(join(root, sessions))
}

function isLog(place: string): boolean {
  return place.endsWith(".jsonl") && place[place.lastIndexOf("/") + 1] !== "."
}
