/**
 * `bun run attack sql [--from N] [--only N] [--seconds N]`: each query that makes much of little is asked of a served
 * pond. It may take its timeout and one second, and its process the memory of a query and 100 MB; then six at once, whose
 * callers leave, and the server is as it was.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { childrenOf, residentMb } from "../../test/support/processes.ts"
import { SQL_BOMBS } from "../../test/support/sql-bombs.ts"
import { type Chaos, numberFlag, type Outcome } from "../lib/outcome.ts"
import { pondCommand } from "../lib/timed-run.ts"
import { BuildFailure } from "../release/targets.ts"

/** What a process of a query starts with and what it may take besides (`src/operations/sql/engine/engine.ts`). */
const START_MB = 130
const LIMIT_MB = 268
const SLACK_MB = 100
const SLACK_MS = 1000

export const attack: Chaos = {
  summary: "queries that ask for any memory and any time, alone and six at once, of a served pond",
  run: async function* (args) {
    const seconds = numberFlag(args, "seconds", 5)
    const from = numberFlag(args, "from", 0)
    const to = args.includes("--only") ? numberFlag(args, "only", 0) + 1 : SQL_BOMBS.length
    const home = mkdtempSync(join(tmpdir(), "pond-attack-"))
    const server = Bun.spawn([...pondCommand(), "serve", "--socket", join(home, "pond.sock")], {
      env: { HOME: home, PATH: process.env["PATH"] ?? "" },
      stdio: ["ignore", "pipe", "inherit"],
    })
    const ask = async (sql: string, timeoutMs: number, signal?: AbortSignal) =>
      await fetch("http://localhost/v1/sql", {
        unix: join(home, "pond.sock"),
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ protocol_version: 1, sql, timeout_ms: timeoutMs }),
        ...(signal === undefined ? {} : { signal }),
      })
    try {
      await server.stdout.getReader().read()
      const first = await ask("select 1", 60_000)
      if (!first.ok) throw new BuildFailure(await first.text())
      for (const [index, sql] of SQL_BOMBS.entries()) {
        if (index < Math.max(from, args.includes("--only") ? to - 1 : 0) || index >= to) continue
        yield await one(index, sql, server.pid, () => ask(sql, seconds * 1000), seconds * 1000)
      }
      if (!args.includes("--only")) yield await six(server.pid, ask)
    } finally {
      server.kill("SIGKILL")
      await server.exited
      rmSync(home, { recursive: true, force: true })
    }
  },
}

async function one(
  index: number,
  sql: string,
  pid: number,
  ask: () => Promise<Response>,
  timeoutMs: number,
): Promise<Outcome> {
  const peak = watchChildren(pid)
  const began = performance.now()
  const response = await ask()
  const said = await response.text()
  const tookMs = performance.now() - began
  const peakMb = peak()
  const isRight = tookMs < timeoutMs + SLACK_MS && peakMb < START_MB + LIMIT_MB + SLACK_MB && response.status !== 500
  return {
    what: `${index} ${sql.slice(0, 60)}`,
    isRight,
    found: `${(tookMs / 1000).toFixed(2)} s, ${peakMb.toFixed(0)} MB, ${response.status} ${said.slice(0, 90)}`,
  }
}

async function six(
  pid: number,
  ask: (sql: string, ms: number, signal: AbortSignal) => Promise<Response>,
): Promise<Outcome> {
  const before = residentMb(pid)
  const gone = new AbortController()
  const asked = SQL_BOMBS.slice(0, 6).map((sql) => ask(sql, 60_000, gone.signal).catch(() => undefined))
  while (childrenOf(pid).length === 0) await Bun.sleep(20)
  await Bun.sleep(2000)
  gone.abort()
  await Promise.all(asked)
  const left = performance.now()
  while (childrenOf(pid).length > 0 && performance.now() - left < 5000) await Bun.sleep(20)
  const [after, children] = [residentMb(pid), childrenOf(pid).length]
  return {
    what: "six at once, whose callers leave",
    isRight: children === 0 && after < before + SLACK_MB,
    found: `server ${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after; ${children} processes left`,
  }
}

/** The most that the children of a process have had, looked at every few milliseconds. */
function watchChildren(pid: number): () => number {
  let most = 0
  const timer = setInterval(() => {
    for (const child of childrenOf(pid)) most = Math.max(most, residentMb(child))
  }, 5)
  return () => {
    clearInterval(timer)
    return most
  }
}
