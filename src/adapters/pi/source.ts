/**
 * Where pi keeps its sessions: `<agent directory>/sessions/--<cwd, its separators as dashes>--/<time>_<id>.jsonl`, or
 * flat in one directory where a variable names it. `auth.json` lies one level above the root and is never looked at.
 */
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Environment } from "../../platform/host/environment.ts"
import type { Source, SourceUnit } from "../adapter.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"

/** Extensions put the sessions of their sub-agents into directories beside the one that started them; a given root may be any. */
const DEPTH_MAX = 16

export const source: Source = { roots, plan }

/** That is the folder of one directory's sessions, and none is found below it. */
export function isDiverted({ PI_CODING_AGENT_SESSION_DIR: own }: Environment): boolean {
  return Boolean(own)
}

function roots(environment: Environment, home: string): readonly string[] {
  const agent = expanded(environment["PI_CODING_AGENT_DIR"], home) ?? join(home, ".pi", "agent")
  const own = expanded(environment["PI_CODING_AGENT_SESSION_DIR"], home)
  return own === undefined ? [join(agent, "sessions")] : [own, join(agent, "sessions")]
}

function plan(root: string): (SourceUnit | Issue)[] {
  const all = filesBelow(root, { form: "log", depthMax: DEPTH_MAX, accepts: isSessionFile })
  return all.map((found) => (isIssue(found) ? found : { key: found.relativePath, root, files: [found] }))
}

function isSessionFile(place: string): boolean {
  return place.endsWith(".jsonl") && place[place.lastIndexOf("/") + 1] !== "."
}

function expanded(path: string | undefined, home: string): string | undefined {
  if (path === undefined || path === "") return undefined
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path
}
