/**
 * What Grok would send now. Its updates say it, without what was rewound. After a compaction they do not say what it was summed
 * up as: then it is the history that the client wrote for its model.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { historyEntries } from "./history.ts"
import { COMPACTED } from "./records.ts"

interface Said {
  readonly entry: Entry
  /** The number of the prompt that it belongs to. */
  readonly prompt: number
}

export function context(log: SessionLog): readonly Entry[] {
  let said: Said[] = []
  let prompt = -1
  let isCompacted = false
  for (const { newest, entries } of entriesByRecord(log)) {
    const update = updateIn(sourceOf(newest)["record"])
    const kind = String(update["sessionUpdate"])
    isCompacted ||= COMPACTED.has(kind)
    if (kind === "rewind_marker") said = before(said, Number(update["target_prompt_index"]))
    prompt = promptIn(update, kind) ?? (kind === "rewind_marker" ? (said.at(-1)?.prompt ?? -1) : prompt)
    for (const entry of entries) if (isSaid(entry)) said.push({ entry, prompt })
  }
  const sent = isCompacted ? historyEntries(log) : undefined
  return sent ?? said.map(({ entry }) => entry)
}

/** What was said before a prompt. */
function before(said: readonly Said[], target: number): Said[] {
  return said.slice(0, said.findLastIndex(({ prompt }) => prompt < target) + 1)
}

function promptIn({ _meta: meta }: JsonObject, kind: string): number | undefined {
  const index = kind === "user_message_chunk" && isJsonObject(meta) ? meta["promptIndex"] : undefined
  return typeof index === "number" ? index : undefined
}

function isSaid({ message, parts }: Entry): boolean {
  return message.role !== "system" && parts.length > 0
}

function updateIn(record: JsonValue | undefined): JsonObject {
  const outer = isJsonObject(record) ? record : {}
  const { params } = outer
  const { update } = isJsonObject(params) ? params : outer
  return isJsonObject(update) ? update : {}
}
