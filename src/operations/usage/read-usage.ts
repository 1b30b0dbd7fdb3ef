/** The recorded usage of all sessions: what the cache knows, and what was stored since, as the adapters read it. */

import { ADAPTERS, originOf } from "../../adapters/registry.ts"
import type { UsageReading } from "../../adapters/usage-reading.ts"
import { lazy } from "../../platform/lazy.ts"
import type { StoredRecord } from "../../sessions/read/stored-records.ts"
import type { Sessions } from "../../sessions/store.ts"
import type { Pond } from "../pond.ts"
import { type KnownUsage, readUsageCache, usageCachePath, writeUsageCache } from "./usage-cache.ts"
import { buildUsage, type UsageBuilder, type UsageTable } from "./usage-table.ts"

/** A server answers again: what it read last, by the place of its cache. */
const known = new Map<string, KnownUsage>()
const KNOWN_MAX = 4

export async function readUsage(pond: Pond, signal: AbortSignal): Promise<UsageTable> {
  const { records } = await pond.sessions()
  const path = usageCachePath(pond)
  const before = known.get(path) ?? readUsageCache(path)
  const from = before !== undefined && (await records.isStill(before.reach)) ? before : undefined
  const reach = await records.reach()
  if (from !== undefined && from.reach.to === reach.to) return remember(pond, path, from).table
  const builder = buildUsage(from?.table)
  await readInto(builder, records, { from: from?.reach.to ?? 0, to: reach.to, signal })
  const read: KnownUsage = { table: builder.table(), reach }
  writeUsageCache(path, read)
  return remember(pond, path, read).table
}

function remember({ host }: Pond, path: string, usage: KnownUsage): KnownUsage {
  if (host.lifetime === "command") return usage
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(path, usage)
  return usage
}

interface Range {
  readonly from: number
  readonly to: number
  readonly signal: AbortSignal
}

/** Asked for when records are read: it loads every codec. */
const marks = lazy(() => [...new Set(ADAPTERS.flatMap(({ usage }) => usage?.marks ?? []))])

async function readInto(builder: UsageBuilder, records: Sessions["records"], range: Range): Promise<void> {
  const readings = new Map<string, UsageReading | undefined>()
  const readingOf = (agent: string) => {
    if (!readings.has(agent)) readings.set(agent, originOf(agent)?.usage)
    return readings.get(agent)
  }
  for await (const batch of records.records({ ...range, texts: marks() })) {
    range.signal.throwIfAborted()
    for (const record of batch) {
      const reading = readingOf(record.source_agent)
      if (reading !== undefined) addRecord(builder, reading, record)
    }
  }
}

/** As much of a message's options as is needed. Numbers may be plain: no count needs more than a double holds. */
interface Options {
  readonly source?: { readonly record?: unknown }
  readonly pond?: { readonly replay_of?: unknown }
}

function addRecord(builder: UsageBuilder, reading: UsageReading, row: StoredRecord): void {
  const options = JSON.parse(row.options) as Options
  const record = options.source?.record
  if (record === undefined || record === null) return
  const session = builder.session(row.session_id, row.source_agent, row.project)
  const copiedFrom = options.pond?.replay_of
  const sessionId = typeof copiedFrom === "string" ? copiedFrom : row.session_id
  const isCopy = row.lane === "replay" || typeof copiedFrom === "string"
  const place = { session, ordinal: row.ordinal, timeMs: Number(row.timestamp / 1000n), isCopy }
  for (const usage of reading.read({ record: record as never, sessionId }, builder.memoryOf(session))) {
    builder.add(place, usage)
  }
}
