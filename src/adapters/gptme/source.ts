/** Where gptme keeps conversations: a folder for each, with a log. Files that it was given lie beside, and are not read. */
import type { Issue } from "../../model/report.ts"
import type { Source, SourceUnit } from "../adapter.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const LOG = /(?:^|\/)\d{4}-\d{2}-\d{2}-[\w-]{1,100}\/conversation\.jsonl$/

export function concerns(_root: string, place: string): boolean {
  return !place.includes("/") || LOG.test(place)
}

function plan(root: string): (SourceUnit | Issue)[] {
  const found = filesBelow(root, { form: "log", depthMax: 3, accepts: (place) => LOG.test(place) })
  return found.map((file) => (isIssue(file) ? file : { key: file.relativePath, root, files: [file] }))
}
