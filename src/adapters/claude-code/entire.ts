/**
 * Checkpoints of entire: a checkout of its branch `entire/checkpoints/v1`, named with `--path`. Each checkpoint has the whole
 * transcript of its sessions so far, as the agent wrote it, with credentials taken out: the longest of a session is read. Of agents
 * other than Claude Code it says that they are not.
 */
import { readFileSync } from "node:fs"
import { dirname } from "node:path"
import { isJsonObject, parseJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"

export const entireSource: Source = { roots: () => [], plan: planCheckpoints }

const PLACE = /^(?:[\da-f]{2}\/[\da-z]{10,26}\/|[\da-z]{10,26}\/)?\d{1,4}\/(?:full\.jsonl|metadata\.json)$/i
const DEPTH_MAX = 3

function planCheckpoints(root: string): (SourceUnit | Issue)[] {
  const found = filesBelow(root, { form: "log", depthMax: DEPTH_MAX, accepts: (place) => PLACE.test(place) })
  const files = found.filter((each): each is SourceFile => !isIssue(each))
  const logs = new Map(files.filter(isLog).map((file) => [dirname(file.relativePath), file]))
  const newest = new Map<string, { readonly log: SourceFile; readonly about: SourceFile | undefined }>()
  const issues = found.filter(isIssue)
  const abouts = new Map(files.filter((file) => !isLog(file)).map((file) => [dirname(file.relativePath), file]))
  for (const [folder, log] of logs) {
    const about = abouts.get(folder)
    const { session = folder, agent } = about === undefined ? {} : sessionIn(about.path)
    if (agent !== undefined && agent !== "Claude Code")
      issues.push({
        ...{ kind: "unknown_store", severity: "note", file: log.relativePath },
        found: `a session of ${agent}`.slice(0, 80),
      })
    else if (log.sizeBytes > (newest.get(session)?.log.sizeBytes ?? -1)) newest.set(session, { log, about })
  }
  const units = [...newest.values()].map(({ log, about }): SourceUnit => {
    return { key: log.relativePath, root, files: about === undefined ? [log] : [log, { ...about, form: "document" }] }
  })
  return [...issues, ...units.toSorted((left, right) => (left.key < right.key ? -1 : 1))]
}

function isLog({ relativePath }: SourceFile): boolean {
  return relativePath.endsWith(".jsonl")
}

function sessionIn(path: string): { readonly session?: string; readonly agent?: string } {
  const parsed = parseJson(readFileSync(path, "utf8"))
  const { session_id: id, sessionID: old, agent } = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  const session = id ?? old
  return {
    ...(typeof session === "string" ? { session } : {}),
    ...(typeof agent === "string" ? { agent } : {}),
  }
}
