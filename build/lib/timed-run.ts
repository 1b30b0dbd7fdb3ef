/** A separate process in a separate home, with what it cost: what benches of the whole program measure. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ROOT } from "../release/packages.ts"
import { BuildFailure } from "../release/targets.ts"
import { isStale } from "./freshness.ts"

const BUILT = join(ROOT, "dist/pond")

/** What people run where it was built (`bun run build`), the source tree otherwise. */
export function pondCommand(): readonly string[] {
  if (!existsSync(BUILT)) return [process.execPath, join(ROOT, "src/main.ts")]
  if (isStale(BUILT)) throw new BuildFailure("dist/pond is older than its sources. Run `bun run build`, or delete it.")
  return [BUILT]
}

/** For what a figure says of itself: the two differ by half. */
export function pondForm(): string {
  return existsSync(BUILT) ? "executable" : "from source"
}

export interface Run {
  readonly stdout: string
  readonly wallMs: number
  readonly cpuMs: number
  readonly residentMb: number
}

export function pond(home: string, ...args: readonly string[]): Run {
  unpackOnce(home)
  return start(home, [...pondCommand(), ...args])
}

const unpacked = new Set<string>()

/** An executable unpacks its native libraries once in its life: a second and 200 MB that no figure is about. */
function unpackOnce(home: string): void {
  if (unpacked.has(home)) return
  unpacked.add(home)
  if (existsSync(BUILT)) start(home, [BUILT, "doctor", "--store", join(home, "unpacked")])
}

export interface Weighed extends Disposable {
  /** What to run instead. */
  readonly command: readonly string[]
  /** The most memory that it had, once it has ended. */
  readonly peakMb: () => number
}

/**
 * The system's `time` stands between, because a process inherits the peak of the one that starts it: seven queries, each in
 * a separate process, had the 719 MB of the process that had filled their store.
 */
export function weighed(command: readonly string[]): Weighed {
  const time = Bun.which("time")
  if (time === null) throw new BuildFailure("GNU time is not installed.")
  const folder = mkdtempSync(join(tmpdir(), "pond-time-"))
  const report = join(folder, "peak")
  return {
    command: [time, "--quiet", "--format=%M", `--output=${report}`, ...command],
    peakMb: () => (Number(readFileSync(report, "utf8")) * 1_024) / 1e6,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export function start(home: string, command: readonly string[]): Run {
  using scales = weighed(command)
  const began = performance.now()
  const ended = Bun.spawnSync([...scales.command], {
    cwd: home,
    env: { HOME: home, PATH: process.env["PATH"] ?? "", NO_COLOR: "1" },
    maxBuffer: Number.POSITIVE_INFINITY,
    stdout: command[0] === "cat" ? "ignore" : "pipe",
  })
  const wallMs = performance.now() - began
  if (!ended.success) {
    const said = ended.stderr.toString().trim().split("\n").slice(-5).join("\n")
    throw new BuildFailure(`${command.slice(0, 4).join(" ")} failed: ${said}`)
  }
  return {
    stdout: ended.stdout?.toString() ?? "",
    wallMs,
    cpuMs: Number(ended.resourceUsage.cpuTime.total) / 1_000,
    residentMb: scales.peakMb(),
  }
}
