/**
 * What a restore of a very long session takes, and a document of it to share: sessions of a hundred megabytes, of very many
 * short lines and of few with megabytes of tool output, into their own client and into others. Each by a separate process,
 * whose peak of memory is what is measured; `--share N` makes them a N-th as long.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { writeLongSession } from "../corpus/corpus.ts"
import type { Bench, Row } from "../lib/measure.ts"
import { pond } from "../lib/timed-run.ts"

const SEED = 5
const LIMIT_MB = 600

interface Session {
  readonly what: string
  readonly client: "claude-code" | "codex"
  readonly lines: number
  readonly outputUnits?: number
  readonly targets: readonly string[]
  /** Another client's session is held whole, as it was and then as it is read back: what that takes follows its messages. */
  readonly foreignLimitMb: number
}

const SESSIONS: readonly Session[] = [
  {
    ...{ what: "52,000 lines of Claude Code", client: "claude-code", lines: 52_000 },
    ...{ targets: ["codex", "pi", "opencode"], foreignLimitMb: 650 },
  },
  {
    ...{ what: "146,000 lines of Codex", client: "codex", lines: 146_000 },
    ...{ targets: ["claude-code", "pi", "opencode"], foreignLimitMb: 850 },
  },
  {
    ...{ what: "results of 5 MB of Claude Code", client: "claude-code", lines: 32, outputUnits: 5_000_000 },
    ...{ targets: ["codex", "opencode"], foreignLimitMb: 600 },
  },
]

export const bench: Bench = {
  summary: "restore: the memory of one session of 100 MB, into its own client, into others, and as Markdown",
  run: (args) => {
    const { values } = parseArgs({ args: [...args], options: { share: { type: "string" } } })
    const base = mkdtempSync(join(tmpdir(), "pond-bench-restore-"))
    try {
      return Promise.resolve(SESSIONS.flatMap((session) => rowsOf(base, session, Number(values.share ?? 1))))
    } finally {
      rmSync(base, { recursive: true, force: true })
    }
  },
}

function rowsOf(base: string, session: Session, share: number): Row[] {
  const { what, client, lines, outputUnits, targets, foreignLimitMb } = session
  const home = join(base, what.replaceAll(/\W+/g, "-"))
  const units = outputUnits === undefined ? {} : { outputUnits }
  const { id, bytes } = writeLongSession({ home, client, lines: Math.ceil(lines / share), seed: SEED, ...units })
  pond(home, "sync", "--only", "import", "--json")
  const row = (to: string, limit: number): Row => {
    const root = join(home, "restored", to)
    const { residentMb, cpuMs } = pond(home, "restore", id, "--to", to, "--root", root, "--json")
    const beside = `${(bytes / 1e6).toFixed(0)} MB, processor ${(cpuMs / 1_000).toFixed(1)} s`
    return { what: `${what} into ${to}, peak memory`, measured: residentMb, unit: "MB", limit, beside }
  }
  const shared = (): Row => {
    const { residentMb, cpuMs } = pond(home, "get", id, "-o", join(home, "shared.md"), "--redact", "--json")
    const beside = `processor ${(cpuMs / 1_000).toFixed(1)} s`
    return { what: `${what} as Markdown, peak memory`, measured: residentMb, unit: "MB", limit: LIMIT_MB, beside }
  }
  return [row(client, LIMIT_MB), ...targets.map((to) => row(to, foreignLimitMb)), shared()]
}
