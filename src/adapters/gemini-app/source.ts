/**
 * The Gemini app keeps nothing on this machine: its owner asks Google Takeout for the activity of Gemini Apps, as JSON. Activity
 * of other products lies in the same tree in files of the same name, and is not read.
 */
import type { JsonObject } from "../../model/json.ts"
import type { Source } from "../adapter.ts"
import { uuidV4Of } from "../shared/derived-ids.ts"
import { exportSource } from "../shared/export-source.ts"
import { PROMPTED } from "./parse.ts"

export const source: Source = exportSource({
  names: /^MyActivity\.json$/,
  idOf: (record) => (isPrompt(record) ? idOfRecord(record) : undefined),
  isOther: (record) => typeof record["header"] === "string" && !isPrompt(record),
  isMixed: true,
})

/** What was said in it stands in no conversation: each prompt is one, with its answer. Its moment and its words tell it. */
function idOfRecord({ time, title }: JsonObject): string {
  return uuidV4Of(`gemini-app ${String(time)} ${String(title)}`)
}

/** Of the activity of the app ("Used", "Created", "Gave feedback") only prompts are of a conversation. */
function isPrompt({ header, products, title }: JsonObject): boolean {
  const named = Array.isArray(products) ? products : []
  const isOfApp = header === "Gemini Apps" || named.includes("Gemini Apps")
  return isOfApp && typeof title === "string" && PROMPTED.test(title)
}
