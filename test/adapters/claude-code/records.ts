/** Records as Claude Code writes them, each a second after the one before. */
import type { Entry } from "../../../src/model/session.ts"
import { SESSION } from "./support.ts"

const common = { sessionId: SESSION, cwd: "/work", version: "2.1.326", isSidechain: false }
let clock = 0

export function record(type: string, uuid: string, parentUuid: string | null, fields: Record<string, unknown> = {}) {
  return {
    ...common,
    type,
    uuid,
    parentUuid,
    timestamp: new Date(1_770_000_000_000 + clock++ * 1000).toISOString(),
    ...fields,
  }
}

export function user(uuid: string, parent: string | null, content: unknown, fields: Record<string, unknown> = {}) {
  return record("user", uuid, parent, { message: { role: "user", content }, ...fields })
}

export function assistant(uuid: string, parent: string | null, content: unknown[], id = `msg_${uuid}`) {
  return record("assistant", uuid, parent, { message: { id, role: "assistant", model: "claude-opus-5-5", content } })
}

export const text = (value: string) => ({ type: "text", text: value })
export const call = (id: string) => ({ type: "tool_use", id, name: "Bash", input: { command: `run ${id}` } })
export const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: `result ${id}` })

export const idsOf = (entries: readonly Entry[]) => entries.map(({ message }) => message.id)
