/** The live conversation: of a document as `shared/listed-document.ts` says, of a transcript all from its newest summary on. */
import type { JsonObject } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import { mainPlaceOf } from "../shared/native.ts"
import { conversation } from "./parse.ts"

export function context(log: SessionLog, ancestors: readonly SessionLog[]): readonly Entry[] {
  if (!mainPlaceOf(log).endsWith(".jsonl")) return conversation.context(log, ancestors)
  const all = log.entries.filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
  return all.slice(Math.max(0, all.findLastIndex(isSummary)))
}

function isSummary({ parts }: Entry): boolean {
  return parts.some(({ options }) => (options["pond"] as JsonObject | undefined)?.["injected"] === "compact-summary")
}
