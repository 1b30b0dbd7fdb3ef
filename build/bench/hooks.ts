/**
 * What a client waits for at each of its hooks, as processes over a thousand sessions: processor time, because the limit of
 * 300 ms is one of a machine that has time. A prompt that shares words with many messages costs most.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { writeCorpus } from "../corpus/corpus.ts"
import type { Bench, Row } from "../lib/measure.ts"
import { pondCommand, pondForm, start } from "../lib/timed-run.ts"

const SEED = 7
const LINES_TYPICAL = 60
const WAIT_MAX_MS = 300

/** Words of the generated vocabulary, which many messages have, and words that none has. */
const SHARED =
  "Why does tumorlan kerdicontis fail after mentpreable morloker, and what did pevatis tubalan do about nadi kerloxezi?"
const UNKNOWN = "Please write a haiku about the weather in Reykjavik."

export const bench: Bench = {
  summary: "hooks of clients: what each waits for at most",
  run: (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { sessions: { type: "string" }, rounds: { type: "string" } },
    })
    const home = mkdtempSync(join(tmpdir(), "pond-bench-"))
    try {
      const command = pondCommand()
      writeCorpus({ home, sessions: Number(values.sessions ?? 1_000), linesTypical: LINES_TYPICAL, seed: SEED })
      start(home, [...command, "doctor", "--store", join(home, "unpacked")])
      start(home, [...command, "sync"])
      start(home, [...command, "sync"])
      return Promise.resolve(asked().map((each) => measured(home, command, each, Number(values.rounds ?? 9))))
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  },
}

interface Asked {
  readonly what: string
  readonly event: string
  readonly payload: object
}

function asked(): readonly Asked[] {
  return [
    { what: "a prompt of known words", event: "prompt", payload: { prompt: SHARED } },
    { what: "a prompt of unknown words", event: "prompt", payload: { prompt: UNKNOWN } },
    { what: "a session that starts", event: "session-start", payload: { source: "startup" } },
    { what: "a session after its compaction", event: "session-start", payload: { source: "compact" } },
    { what: "before a compaction", event: "pre-compact", payload: {} },
    { what: "the end of a session", event: "session-end", payload: {} },
  ]
}

function measured(home: string, command: readonly string[], { what, event, payload }: Asked, rounds: number): Row {
  const file = join(home, "payload.json")
  const common = { session_id: "5f0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a12", cwd: "/home/someone/work" }
  writeFileSync(file, JSON.stringify({ ...common, ...payload }))
  const hook = ["sh", "-c", 'payload=$1; shift; exec "$@" <"$payload"', "hook", file]
  const runs = Array.from({ length: rounds }, () =>
    start(home, [...hook, ...command, "hook", event, "--client", "claude-code"]),
  )
  const best = Math.min(...runs.map(({ cpuMs }) => cpuMs))
  const beside = `${pondForm()}; ${Math.min(...runs.map(({ wallMs }) => wallMs)).toFixed(0)} ms on the clock`
  return { what: `${what}, processor time`, measured: best, unit: "ms", limit: WAIT_MAX_MS, beside }
}
