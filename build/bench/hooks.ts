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
import { BuildFailure } from "../release/targets.ts"

const SEED = 7
const LINES_TYPICAL = 60
const WAIT_MAX_MS = 300
/** A busy machine would measure how quickly a hook gives up. */
const NEVER_LATE = "POND_RECALL_TIMEOUT_MS=30000"

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
      const { sessions } = JSON.parse(start(home, [...command, "list", "--limit", "1", "--json"]).stdout)
      return Promise.resolve(
        asked(sessions[0].session_id).map((each) => measured(home, command, each, Number(values.rounds ?? 9))),
      )
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  },
}

interface Asked {
  readonly what: string
  readonly event: string
  readonly payload: object
  /** A hook that says nothing where it has something to say has done nothing that could be measured. */
  readonly speaks?: true
}

/** `stored` is the id of a session of the store. */
function asked(stored: string): readonly Asked[] {
  return [
    { what: "a prompt of known words", event: "prompt", payload: { prompt: SHARED }, speaks: true },
    { what: "a prompt of unknown words", event: "prompt", payload: { prompt: UNKNOWN } },
    { what: "a session that starts", event: "session-start", payload: { source: "startup" } },
    {
      what: "a session after its compaction",
      event: "session-start",
      payload: { source: "compact", session_id: stored },
      speaks: true,
    },
    { what: "before a compaction", event: "pre-compact", payload: {} },
    { what: "the end of a session", event: "session-end", payload: {} },
  ]
}

function measured(
  home: string,
  command: readonly string[],
  { what, event, payload, speaks }: Asked,
  rounds: number,
): Row {
  const file = join(home, "payload.json")
  const hook = ["sh", "-c", `payload=$1; shift; ${NEVER_LATE} exec "$@" <"$payload"`, "hook", file]
  const runs = Array.from({ length: rounds }, () => {
    // A session is told nothing twice.
    const common = { session_id: crypto.randomUUID(), cwd: "/home/someone/work" }
    writeFileSync(file, JSON.stringify({ ...common, ...payload }))
    const run = start(home, [...hook, ...command, "hook", event, "--client", "claude-code"])
    if (speaks && run.stdout === "") throw new BuildFailure(`pond hook ${event} said nothing about ${what}.`)
    return run
  })
  const clock = runs.map(({ wallMs }) => wallMs).toSorted((left, right) => left - right)
  const [best = 0, median = 0] = [clock[0], clock[Math.floor(rounds / 2)]]
  return {
    what: `${what}, processor time`,
    measured: Math.min(...runs.map(({ cpuMs }) => cpuMs)),
    unit: "ms",
    limit: WAIT_MAX_MS,
    beside: `${pondForm()}; on the clock ${best.toFixed(0)} ms at best, ${median.toFixed(0)} in the middle`,
  }
}
