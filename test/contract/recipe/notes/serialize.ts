/** Canonical to notes. Native: the records as they were. Foreign: a log as the client would have written it. */
import type { Conversation, FileSink, ForeignEnd, ForeignTarget, Serialize } from "../../../../src/adapters/adapter.ts"
import { uuidV4Of } from "../../../../src/adapters/shared/derived-ids.ts"
import { loss } from "../../../../src/adapters/shared/losses.ts"
import { createNativeSerializer } from "../../../../src/adapters/shared/native.ts"
import { type CallBlock, type Turn, turnsOf } from "../../../../src/adapters/shared/turns.ts"
import { type JsonObject, stringifyJson } from "../../../../src/model/json.ts"
import type { Loss } from "../../../../src/model/report.ts"
import { BRAND } from "./parse.ts"

export const serialize: Serialize = {
  native: createNativeSerializer,
  foreign,
  resume: (sessionId, cwd) => ({ command: ["notes", "open", sessionId], cwd }),
}

function foreign(conversation: Conversation, { cwd, reasoning }: ForeignTarget, sink: FileSink): ForeignEnd {
  const { session, children } = conversation
  const sessionId = uuidV4Of(`${BRAND.id} ${session.source_agent} ${session.id}`)
  const { turns, losses } = turnsOf(conversation, undefined, reasoning)
  const all: Loss[] = [
    ...losses,
    ...children.map((child) => loss("subagent", child.session.id, child.session.source_agent)),
  ]
  const title: JsonObject = session.title === undefined ? {} : { title: session.title }
  const header: JsonObject = { open: sessionId, cwd, at: session.created_at, ...title }
  const write = (record: JsonObject) => sink.line(`${sessionId}.jsonl`, stringifyJson(record))
  write(header)
  for (const turn of turns) for (const record of recordsOf(turn, (...given) => all.push(loss(...given)))) write(record)
  return { sessionId, losses: all }
}

type Lose = (...given: Parameters<typeof loss>) => void

function recordsOf({ role, timestamp: at, messageId, blocks }: Turn, lose: Lose): JsonObject[] {
  return blocks.flatMap((block): JsonObject[] => {
    if (block.type === "call") return callLines(block, at, (kind, found) => lose(kind, messageId, found))
    if (block.type === "reasoning") lose("reasoning_as_text", messageId)
    if (block.type !== "file") return [{ who: role, at, text: block.text }]
    lose("attachment", messageId, block.file.file_name ?? block.file.media_type)
    return []
  })
}

function callLines(
  { id, name, params, result }: CallBlock,
  at: string,
  lose: (kind: Parameters<typeof loss>[0], found: string) => void,
): JsonObject[] {
  const call: JsonObject = { call: id, at, tool: name, given: params }
  if (result === undefined) return [call]
  if (result.isFailure) lose("failure_mark", name)
  const came = result.content.map((block) => {
    if (block.type === "text") return block.text
    lose("attachment", block.mediaType)
    return block.mediaType
  })
  return [call, { call: id, at: result.timestamp, came: came.join("\n") }]
}
