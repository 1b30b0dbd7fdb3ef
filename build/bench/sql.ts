/**
 * Queries over a large store: how long each takes as a process, how much of the store is read for it, and the most memory
 * that the whole process had, which has a bound whatever is asked.
 * `--messages N` (1,000,000), `--store DIR` (which holds `store`) keeps the store and goes on with it.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { createTalk } from "../corpus/talk.ts"
import { fillWithTalk, openTalkStore, storeFolder } from "../corpus/talk-store.ts"
import type { Bench, Row } from "../lib/measure.ts"
import { pondCommand, weighed } from "../lib/timed-run.ts"

/** Of the process, the engines and the programs that they are among it. */
const MEMORY_MB_MAX = 600

const QUERIES = [
  { what: "a count", sql: "select count(*) from messages" },
  { what: "a count of a condition on text", sql: "select count(*) from messages where search_text ilike '%tion%'" },
  { what: "the ends of a column", sql: "select min(timestamp), max(timestamp) from messages" },
  { what: "the newest", sql: "select id, timestamp from messages order by timestamp desc limit 5" },
  { what: "groups", sql: "select source_agent, role, count(*) from messages group by all" },
  { what: "all texts", sql: "select max(length(text)) from parts" },
  {
    what: "everything with everything by keys",
    sql: "select count(*), sum(length(search_text)) from messages m join parts p on m.session_id = p.session_id and m.id = p.message_id",
  },
] as const

export const bench: Bench = {
  summary: "queries over a large store: their time, what they read, and the memory of the process",
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { messages: { type: "string", default: "1000000" }, store: { type: "string" } },
    })
    const folder = values.store ?? mkdtempSync(join(tmpdir(), "pond-bench-sql-"))
    try {
      const sessions = openTalkStore(folder)
      await fillWithTalk(sessions, createTalk(7), Number(values.messages))
      await sessions.maintain("due")
      sessions.close()
      const rows: Row[] = []
      for (const query of QUERIES) rows.push(...(await measured(folder, query)))
      return rows
    } finally {
      if (values.store === undefined) rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function measured(folder: string, { what, sql }: (typeof QUERIES)[number]): Promise<Row[]> {
  using scales = weighed([...pondCommand(), "sql", sql, "--json", "--timeout", "240s"])
  const began = performance.now()
  const child = Bun.spawn([...scales.command], {
    env: { HOME: folder, PATH: process.env["PATH"] ?? "", POND_STORE: storeFolder(folder) },
    stdout: "pipe",
  })
  const answer = JSON.parse(await new Response(child.stdout).text()) as {
    readonly read?: readonly { readonly table: string; readonly columns: readonly string[]; readonly rows: number }[]
    readonly error?: { readonly message: string }
  }
  await child.exited
  const ms = performance.now() - began
  const read = (answer.read ?? []).map(({ table, columns, rows }) => `${rows} ${table} (${columns.join(" ")})`)
  return [
    { what: `${what}: time`, measured: ms, unit: "ms", beside: answer.error?.message ?? `read ${read.join(", ")}` },
    { what: `${what}: most memory`, measured: scales.peakMb(), unit: "MB", limit: MEMORY_MB_MAX },
  ]
}
