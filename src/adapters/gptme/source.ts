/** Where gptme keeps conversations: a folder for each, with a log. Files that it was given lie beside, and are not read. */
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Environment } from "../../platform/host/environment.ts"
import type { Source, SourceUnit } from "../adapter.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"

export const source: Source = { roots, plan }

const LOG = /(?:^|\/)\d{4}-\d{2}-\d{2}-[\w-]{1,100}\/conversation\.jsonl$/

function roots(environment: Environment, home: string): readonly string[] {
  const data = environment["XDG_DATA_HOME"] || join(home, ".local", "share")
  return [environment["GPTME_LOGS_HOME"] || join(data, "gptme", "logs")]
}

export function concerns(_root: string, place: string): boolean {
  return !place.includes("/") || LOG.test(place)
}

function plan(root: string): (SourceUnit | Issue)[] {
  const found = filesBelow(root, { form: "log", depthMax: 3, accepts: (place) => LOG.test(place) })
  return found.map((file) => (isIssue(file) ? file : { key: file.relativePath, root, files: [file] }))
}
