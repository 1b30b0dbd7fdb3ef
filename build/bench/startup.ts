/**
 * What it costs to start the built executable: times as a shell would see them, memory as the system counts it, and what
 * there is to download. Processes are started one after the other, pond and its rival by turns, so that both meet the
 * same machine. `--no-download` leaves out the archive, which takes minutes to make the first time.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isStale } from "../freshness.ts"
import { type Bench, median, type Row } from "../measure.ts"
import { ROOT } from "../packages.ts"
import { archivePath, makeRelease } from "../release.ts"
import { SAMPLE_SESSION_ID, writeSampleSession } from "../sample-session.ts"
import { BuildFailure, hostTarget } from "../targets.ts"

const POND = join(ROOT, "dist/pond")
const BUN = [process.execPath, "--version"]
const ROUNDS = 20

export const bench: Bench = {
  summary: "start of the built executable: time, memory, size of the download",
  run: async (args) => {
    if (isStale(POND)) throw new BuildFailure("dist/pond is older than its sources. Run `bun run build` first.")
    const home = mkdtempSync(join(tmpdir(), "pond-bench-"))
    try {
      const rows = [...processRows(home), queryRow(home)]
      return args.includes("--no-download") ? rows : [...rows, await downloadRow()]
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  },
}

function processRows(home: string): Row[] {
  const version = byTurns(home, [POND, "--version"])
  const help = byTurns(home, [POND, "--help"])
  return [
    timeRow("pond --version", version, 20),
    timeRow("pond --help", help, 30),
    {
      what: "pond --version, resident memory",
      measured: residentMb(home, [POND, "--version"]),
      unit: "MB",
      limit: 45,
      beside: `bun --version ${residentMb(home, BUN).toFixed(1)} MB`,
    },
  ]
}

/** A whole process that opens a store, asks it one thing and prints the answer. */
function queryRow(home: string): Row {
  writeSampleSession(home)
  start(home, [POND, "sync", "claude-code"])
  const query = [POND, "restore", SAMPLE_SESSION_ID, "--dry-run", "--root", join(home, "elsewhere")]
  return timeRow("open a store and read a session of two messages", byTurns(home, query), 120)
}

async function downloadRow(): Promise<Row> {
  const archive = archivePath(hostTarget(), "tar.zst")
  if (isStale(archive)) {
    console.error("making the archive of a release, once for these sources …")
    await makeRelease(hostTarget())
  }
  return { what: "compressed download (tar.zst)", measured: statSync(archive).size / 1e6, unit: "MB", limit: 130 }
}

// --- Runs ------------------------------------------------------------------------------------------------------------

/** Milliseconds of each round. */
interface Duel {
  readonly own: readonly number[]
  readonly rival: readonly number[]
}

function byTurns(home: string, own: readonly string[]): Duel {
  const duel = { own: [] as number[], rival: [] as number[] }
  start(home, own)
  start(home, BUN)
  for (let round = 0; round < ROUNDS; round++) {
    duel.own.push(start(home, own))
    duel.rival.push(start(home, BUN))
  }
  return duel
}

function start(home: string, command: readonly string[]): number {
  const began = performance.now()
  run(home, command)
  return performance.now() - began
}

/**
 * A process inherits the peak of the one that starts it, and this one is larger than pond. So the system's `time` stands
 * between; where it is not installed the figure is too high.
 */
function residentMb(home: string, command: readonly string[]): number {
  const time = Bun.which("time")
  if (time === null) return run(home, command).resourceUsage.maxRSS / 1e6
  const report = run(home, [time, "--format=%M", ...command]).stderr.toString()
  return (Number(report.trim().split("\n").at(-1)) * 1024) / 1e6
}

function run(home: string, command: readonly string[]) {
  const ended = Bun.spawnSync([...command], { cwd: home, env: { HOME: home, PATH: "/usr/bin" } })
  if (!ended.success) throw new BuildFailure(`${command.join(" ")} failed: ${ended.stderr.toString()}`)
  return ended
}

function timeRow(what: string, { own, rival }: Duel, limit: number): Row {
  const best = Math.min(...own).toFixed(1)
  return {
    what,
    measured: median(own),
    unit: "ms",
    limit,
    beside: `best ${best} ms; bun --version ${median(rival).toFixed(2)} ms`,
  }
}
