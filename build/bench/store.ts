/**
 * What it costs to keep sessions: rows per second from prepared values into the real tables, memory while a table grows,
 * and the two things that a large store is asked most often: to import again what it has, and one message by its id.
 * `--rows N` says how many part rows are written, `--keep DIR` where; without it the store is removed again.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom, systemRandom } from "../../src/platform/host/random.ts"
import { MESSAGES, PARTS } from "../../src/sessions/tables.ts"
import { eq } from "../../src/substrate/filter.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import type { Table } from "../../src/substrate/table.ts"
import type { Columns, RowOf } from "../../src/substrate/table-definition.ts"
import { ownPeakMb } from "../../test/support/memory.ts"
import { countStoreRequests } from "../../test/support/store-requests.ts"
import { type Bench, median, type Row } from "../lib/measure.ts"
import { messageRow, partRow } from "../lib/store-rows.ts"

const BATCH = 5000
const MEMORY_LOOKS = 50

export const bench: Bench = {
  summary: "the store: rows per second, memory of an import, a repeated import, a message by its id",
  run: async (args) => {
    const partCount = Number(flagValue(args, "--rows") ?? 2_000_000)
    const kept = flagValue(args, "--keep")
    const folder = kept ?? mkdtempSync(join(tmpdir(), "pond-bench-store-"))
    const location = parseLocation(folder, { environment: {} })
    const store = openStore(location, { log: silentLog, clock: systemClock, random: systemRandom })
    try {
      const parts = await grown(store.table(PARTS), partCount, partRow)
      const messages = await grown(store.table(MESSAGES), partCount / 2, messageRow)
      const peakMb = ownPeakMb()
      return [
        rateRow("part rows", parts, 60_000),
        rateRow("message rows", messages, 40_000),
        {
          what: "memory while it grew, peak",
          measured: peakMb,
          unit: "MB",
          limit: 500,
        },
        flatRow("memory of the last tenth over the second", parts.memoryMb),
        ...(await askedRows(store.table(MESSAGES), partCount / 2)),
        ...(await requestRows()),
      ]
    } finally {
      store.close()
      if (kept === undefined) rmSync(folder, { recursive: true, force: true })
    }
  },
}

function flagValue(args: readonly string[], flag: string): string | undefined {
  const at = args.indexOf(flag)
  return at < 0 ? undefined : args[at + 1]
}

// --- Growing a table -------------------------------------------------------------------------------------------------

interface Growth {
  readonly rows: number
  readonly writeMs: number
  /** Of all cores: what a machine that does other things too shows truer than its clock. */
  readonly cpuMs: number
  /** At even steps of the way, without the garbage of the rows that this bench makes. */
  readonly memoryMb: readonly number[]
  /** Rows per second of each tenth of the way. */
  readonly tenths: readonly number[]
}

async function grown<C extends Columns>(table: Table<C>, rows: number, row: (at: number) => RowOf<C>): Promise<Growth> {
  const memoryMb: number[] = []
  const flushMs: number[] = []
  let cpuMs = 0
  for (let from = 0; from < rows; from += BATCH) {
    const prepared = Array.from({ length: Math.min(BATCH, rows - from) }, (_, index) => row(from + index))
    const [began, cpuBegan] = [performance.now(), process.cpuUsage()]
    await table.insertAbsent(prepared)
    await table.maintain("lookups")
    flushMs.push(performance.now() - began)
    const { user, system } = process.cpuUsage(cpuBegan)
    cpuMs += (user + system) / 1000
    if (flushMs.length % Math.ceil(rows / BATCH / MEMORY_LOOKS) !== 0) continue
    Bun.gc(true)
    memoryMb.push(process.memoryUsage.rss() / 1e6)
  }
  const writeMs = flushMs.reduce((sum, ms) => sum + ms, 0)
  const tenth = Math.max(1, Math.floor(flushMs.length / 10))
  const tenths = Array.from({ length: 10 }, (_, at) => {
    const ms = flushMs.slice(at * tenth, (at + 1) * tenth)
    return (ms.length * BATCH) / (ms.reduce((sum, each) => sum + each, 0) / 1000)
  })
  return { rows, writeMs, cpuMs, memoryMb, tenths }
}

function rateRow(what: string, growth: Growth, limit: number): Row {
  const by = growth.tenths.map((rate) => `${Math.round(rate / 1000)}k`).join(" ")
  return {
    what: `${growth.rows} ${what}, written durably`,
    measured: growth.rows / (growth.writeMs / 1000),
    unit: "rows/s",
    limit,
    isFloor: true,
    beside: `${Math.round(growth.rows / growth.cpuMs)}k rows per second of CPU; by tenths of the way ${by}`,
  }
}

function flatRow(what: string, memoryMb: readonly number[]): Row {
  const tenth = Math.floor(memoryMb.length / 10)
  const [early, late] = [median(memoryMb.slice(tenth, 2 * tenth)), median(memoryMb.slice(-tenth))]
  return {
    what,
    measured: late / early,
    unit: "x",
    limit: 1.5,
    beside: `${early.toFixed(0)} MB, ${late.toFixed(0)} MB`,
  }
}

// --- Asking a large one ----------------------------------------------------------------------------------------------

async function askedRows(table: Table<(typeof MESSAGES)["columns"]>, count: number): Promise<Row[]> {
  await table.maintain("due")
  const random = seededRandom(7)
  const somewhere = () => Math.floor(random.next() * (count - 10))
  const versions = async () => (await table.statistics())?.version ?? 0
  const before = await versions()
  const again = await timed(20, () => {
    const from = somewhere()
    return table.insertAbsent(Array.from({ length: 10 }, (_, index) => messageRow(from + index)))
  })
  const commits = (await versions()) - before
  let next = count
  const fresh = await timed(10, () => table.insertAbsent(Array.from({ length: 10 }, () => messageRow(next++))))
  const byId = await timed(50, async () => {
    const id = messageRow(somewhere()).id
    const found = await table.read({ columns: ["session_id", "id", "search_text"], where: eq("id", id) })
    if (found.length !== 1) throw new Error(`${id} was found ${found.length} times`)
  })
  const of = `of ${count}`
  return [
    { what: `10 messages ${of} imported again`, measured: median(again), unit: "ms", limit: 15 },
    { what: "commits of that", measured: commits, unit: "commits", limit: 2 },
    { what: `10 new messages beside ${count}`, measured: median(fresh), unit: "ms" },
    { what: `one message ${of} by its id`, measured: median(byId), unit: "ms", limit: 10 },
  ]
}

// --- The same on an object store, in requests --------------------------------------------------------------------------

async function requestRows(): Promise<Row[]> {
  const { importCommits, repeatedCommits, messageById, sessionOf200 } = await countStoreRequests()
  const cold = (first: number) => ({ beside: `${first} for a process that has opened nothing yet` })
  const unit = "requests"
  return [
    { what: "S3: commits of an import of 1,000 sessions", measured: importCommits, unit: "commits", limit: 21 },
    { what: "S3: commits of the same again", measured: repeatedCommits, unit: "commits", limit: 1 },
    { what: "S3: one message by its id", measured: messageById.later, unit, limit: 9, ...cold(messageById.first) },
    { what: "S3: a session of 200", measured: sessionOf200.later, unit, limit: 13, ...cold(sessionOf200.first) },
  ]
}

async function timed(rounds: number, work: () => Promise<unknown>): Promise<number[]> {
  await work()
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  return times
}
