/** How much is stored: rows of each table, and sessions of each client and each kind of its sub-agents. */
import type { SessionTables } from "../write/write-sessions.ts"

export interface StoreCounts {
  readonly sessions: number
  readonly messages: number
  readonly parts: number
  readonly blobs: number
}

export interface AgentCount {
  readonly source_agent: string
  readonly sessions: number
}

/** Most first. */
export async function countsByAgent(tables: SessionTables): Promise<readonly AgentCount[]> {
  const counted = new Map<string, number>()
  for await (const rows of tables.sessions.batches({ columns: ["source_agent"] })) {
    for (const { source_agent } of rows) counted.set(source_agent, (counted.get(source_agent) ?? 0) + 1)
  }
  return [...counted]
    .map(([source_agent, sessions]) => ({ source_agent, sessions }))
    .toSorted((left, right) => right.sessions - left.sessions || (left.source_agent < right.source_agent ? -1 : 1))
}

export async function storeCounts(tables: SessionTables): Promise<StoreCounts> {
  const [sessions, messages, parts, blobs] = await Promise.all([
    tables.sessions.count(),
    tables.messages.count(),
    tables.parts.count(),
    tables.blobs.count(),
  ])
  return { sessions, messages, parts, blobs }
}
