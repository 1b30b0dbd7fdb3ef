/**
 * What it costs to start the built executable: times as a shell would see them, memory as the system counts it, and what
 * there is to download. Processes are started one after the other, pond and its rival by turns, so that both meet the
 * same machine. `--no-download` leaves out the archive, which takes minutes to make the first time.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SAMPLE_SESSION_ID, writeSampleSession } from "../corpus/sample-session.ts"
import { isStale } from "../lib/freshness.ts"
import { type Bench, median, type Row } from "../lib/measure.ts"
import { weighed } from "../lib/timed-run.ts"
import { describeRelease } from "../release/description.ts"
import { archiveName } from "../release/install-script.ts"
import { ROOT } from "../release/packages.ts"
import { BuildFailure, hostTarget } from "../release/targets.ts"
import { buildTarget, releasePath } from "../release.ts"

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
  const verbs = run(home, [POND, "--help"]).stdout.toString()
  const get = [POND, "get", SAMPLE_SESSION_ID]
  const restore = [POND, "restore", SAMPLE_SESSION_ID, "--dry-run", "--root", join(home, "elsewhere")]
  const query = /^ +get /m.test(verbs) ? get : restore
  return timeRow(`open a store and run one query (pond ${query[1]})`, byTurns(home, query), 120)
}

async function downloadRow(): Promise<Row> {
  const release = describeRelease({ repository: undefined, downloads: undefined, maintainer: undefined })
  const archive = releasePath(archiveName(release, hostTarget().name, "tar.zst"))
  if (isStale(archive)) {
    console.error("making the archive of a release, once for these sources …")
    await buildTarget(release, hostTarget())
  }
  return {
    what: "compressed download (tar.zst)",
    measured: statSync(archive).size / 1e6,
    unit: "MB",
    limit: 130,
    goal: 100,
  }
}

// --- Runs ------------------------------------------------------------------------------------------------------------

interface Round {
  readonly wallMs: number
  /** What the processor worked for it: says what a busy machine adds to the other figure. */
  readonly cpuMs: number
}

interface Duel {
  readonly own: readonly Round[]
  readonly rival: readonly Round[]
}

function byTurns(home: string, own: readonly string[]): Duel {
  const duel = { own: [] as Round[], rival: [] as Round[] }
  start(home, own)
  start(home, BUN)
  for (let round = 0; round < ROUNDS; round++) {
    duel.own.push(start(home, own))
    duel.rival.push(start(home, BUN))
  }
  return duel
}

function start(home: string, command: readonly string[]): Round {
  const began = performance.now()
  const { resourceUsage } = run(home, command)
  return { wallMs: performance.now() - began, cpuMs: Number(resourceUsage.cpuTime.total) / 1000 }
}

function residentMb(home: string, command: readonly string[]): number {
  using scales = weighed(command)
  run(home, scales.command)
  return scales.peakMb()
}

function run(home: string, command: readonly string[]) {
  const ended = Bun.spawnSync([...command], { cwd: home, env: { HOME: home, PATH: "/usr/bin" } })
  if (!ended.success) throw new BuildFailure(`${command.join(" ")} failed: ${ended.stderr.toString()}`)
  return ended
}

function timeRow(what: string, { own, rival }: Duel, limit: number): Row {
  const wallMs = median(own.map((round) => round.wallMs)).toFixed(1)
  const cpuMs = own.map((round) => round.cpuMs)
  const rivalMs = median(rival.map((round) => round.cpuMs)).toFixed(1)
  const beside = `best ${Math.min(...cpuMs).toFixed(1)} ms, ${wallMs} ms in all; bun --version ${rivalMs} ms`
  return { what, measured: median(cpuMs), unit: "ms of processor time", limit, beside }
}
