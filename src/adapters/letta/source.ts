/** How the transcripts of Letta Code lie: a folder for each agent, with one for each of its conversations. */
import type { Issue } from "../../model/report.ts"
import type { Source, SourceUnit } from "../adapter.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const TRANSCRIPT = /^agent-[\w-]{1,100}\/[\w-]{1,100}\/transcript\.jsonl$/

export function concerns(_root: string, place: string): boolean {
  return place.split("/").length < 3 || TRANSCRIPT.test(place)
}

function plan(root: string): (SourceUnit | Issue)[] {
  const found = filesBelow(root, { form: "log", depthMax: 2, accepts: (place) => TRANSCRIPT.test(place) })
  return found.map((file) => (isIssue(file) ? file : { key: file.relativePath, root, files: [file] }))
}
