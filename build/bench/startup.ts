/**
 * What it costs to start the built executable: times as a shell would see them, memory as the system counts it.
 * Processes are started one after the other, pond and its rival by turns, so that both meet the same machine.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Bench, median, type Row } from "../measure.ts"
import { ROOT } from "../packages.ts"
import { BuildFailure } from "../targets.ts"

const POND = join(ROOT, "dist/pond")
const ROUNDS = 20

export const bench: Bench = {
  summary: "start of the built executable: time, memory, size of the download",
  run: () => {
    if (!existsSync(POND)) throw new BuildFailure("There is no dist/pond. Run `bun run build` first.")
    const home = mkdtempSync(join(tmpdir(), "pond-bench-"))
    try {
      return Promise.resolve(rowsIn(home))
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  },
}

function rowsIn(home: string): Row[] {
  const version = byTurns(home, [POND, "--version"], [process.execPath, "--version"])
  const help = byTurns(home, [POND, "--help"], [process.execPath, "--version"])
  return [
    timeRow("pond --version", version, 20),
    timeRow("pond --help", help, 30),
    {
      what: "pond --version, resident memory",
      measured: median(version.own.map(({ residentMb }) => residentMb)),
      unit: "MB",
      limit: 45,
      beside: `bun --version ${median(version.rival.map(({ residentMb }) => residentMb)).toFixed(1)} MB`,
    },
  ]
}

interface Run {
  readonly ms: number
  readonly residentMb: number
}

interface Duel {
  readonly own: readonly Run[]
  readonly rival: readonly Run[]
}

function byTurns(home: string, own: readonly string[], rival: readonly string[]): Duel {
  const duel = { own: [] as Run[], rival: [] as Run[] }
  start(home, own)
  start(home, rival)
  for (let round = 0; round < ROUNDS; round++) {
    duel.own.push(start(home, own))
    duel.rival.push(start(home, rival))
  }
  return duel
}

function start(home: string, command: readonly string[]): Run {
  const began = performance.now()
  const done = Bun.spawnSync([...command], { cwd: home, env: { HOME: home, PATH: "/usr/bin" }, stdout: "pipe" })
  const ms = performance.now() - began
  if (!done.success) throw new BuildFailure(`${command.join(" ")} failed: ${done.stderr.toString()}`)
  return { ms, residentMb: done.resourceUsage.maxRSS / 1e6 }
}

function timeRow(what: string, { own, rival }: Duel, limit: number): Row {
  return {
    what,
    measured: median(own.map(({ ms }) => ms)),
    unit: "ms",
    limit,
    beside: `bun --version ${median(rival.map(({ ms }) => ms)).toFixed(2)} ms`,
  }
}
