/**
 * `pond capture` around a client, as a job would run it: its output for programs, its exit code and its session are as they
 * are without pond, and the session is in the store. Told to keep none, a client that prints its session is stored from that.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Client } from "./client.ts"
import type { Place } from "./place.ts"
import { type Ran, REPOSITORY, run } from "./run.ts"

/** What makes each print lines of JSON, and what makes it keep no session where its output then holds it. */
const PRINTING: Readonly<Record<string, { readonly json: readonly string[]; readonly none?: string }>> = {
  claude: { json: ["--verbose", "--output-format", "stream-json"], none: "--no-session-persistence" },
  codex: { json: ["--json"] },
}
const PROMPT = "[[script:tools]] go"
const ACTION = join(REPOSITORY, ".github/actions/capture/action.yml")

interface Report {
  readonly exit_code: number
  readonly messages: number
  readonly sessions: readonly { readonly source_agent: string; readonly file: string | null }[]
}

export function captured(
  place: Place,
  client: Client,
): { readonly isGood: boolean; readonly said: string } | undefined {
  const printing = PRINTING[client.name]
  if (printing === undefined) return undefined
  const faults: string[] = []
  const own = [process.execPath, join(REPOSITORY, "src/main.ts")]
  const plain = client.begin(PROMPT, { args: printing.json })
  const alone = runIn(place, client, "alone", plain)
  const job = (name: string, words: readonly string[]) => {
    const folder = join(place.root, "homes", `${client.name}-captured-${name}`)
    const report = join(folder, "report.json")
    const flags = ["capture", "--artifacts", join(folder, "pages"), "--report", report, "--"]
    const ran = runIn(place, client, name, [...own, ...flags, ...words])
    const said = existsSync(report) ? (JSON.parse(readFileSync(report, "utf8")) as Report) : undefined
    return { ran, said }
  }
  const kept = job("kept", plain)
  faults.push(...sameOutput("kept", alone, kept.ran), ...storedOnce("kept", client, kept.said))
  const failing = job("failing", ["bash", "-c", '"$@"; exit 7', "job", ...plain])
  if (failing.ran.code !== 7) faults.push(`a job that fails with 7 ended with ${failing.ran.code}`)
  faults.push(...storedOnce("failing", client, failing.said))
  if (printing.none !== undefined) {
    const none = job("none", client.begin(PROMPT, { args: [...printing.json, printing.none] }))
    faults.push(...sameOutput("none", alone, none.ran), ...storedOnce("none", client, none.said))
  }
  faults.push(...actionFaults(place, client, plain, own))
  return {
    isGood: faults.length === 0,
    said:
      faults.join("; ") || "output and exit code as without pond, stored, in a page, by the steps of the action too",
  }
}

function runIn(place: Place, client: Client, name: string, words: readonly string[], environment = {}): Ran {
  const home = join(place.root, "homes", `${client.name}-captured-${name}`)
  const log = join(place.root, "logs", `${client.name}-captured-${name}.jsonl`)
  for (const stale of [home, log]) rmSync(stale, { recursive: true, force: true })
  for (const folder of [home, dirname(log)]) mkdirSync(folder, { recursive: true })
  client.configure(home, {})
  return run({ client, place, home, cwd: place.alpha, log, words, environment })
}

/** The same kinds of lines in the same order, each a whole one. What differs in each run (ids, times) is not compared. */
function sameOutput(name: string, alone: Ran, ran: Ran): string[] {
  const kinds = ({ said }: Ran) =>
    said
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => String((JSON.parse(line) as { type?: string }).type))
      // How often it reports on its thoughts depends on the clock.
      .filter((type) => type !== "system")
      .join(" ")
  try {
    const [wanted, found] = [kinds(alone), kinds(ran)]
    if (ran.code !== alone.code) return [`${name}: it ended with ${ran.code}, not ${alone.code}`]
    return wanted === found && wanted !== "" ? [] : [`${name}: it printed ${found || "nothing"}, not ${wanted}`]
  } catch (error) {
    return [`${name}: a line of its output is no JSON: ${String(error)}`]
  }
}

function storedOnce(name: string, client: Client, report: Report | undefined): string[] {
  const [session, ...others] = report?.sessions ?? []
  const isGood =
    session?.source_agent === client.adapter &&
    others.length === 0 &&
    (report?.messages ?? 0) > 5 &&
    session.file !== null &&
    existsSync(session.file)
  return isGood ? [] : [`${name}: stored ${JSON.stringify(report)}`]
}

/** The step of the action that runs the agent, with its variables filled in as a runner would. */
function actionFaults(place: Place, client: Client, words: readonly string[], own: readonly string[]): string[] {
  const { runs } = Bun.YAML.parse(readFileSync(ACTION, "utf8")) as {
    readonly runs: { readonly steps: readonly { readonly id?: string; readonly run?: string }[] }
  }
  const step = runs.steps.find(({ id }) => id === "keep")?.run ?? ""
  const folder = join(place.root, "jobs", client.name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")
  writeFileSync(join(folder, "pond"), `#!/bin/sh\nexec ${own.join(" ")} "$@"\n`, { mode: 0o755 })
  writeFileSync(join(folder, "step.sh"), `export PATH="${folder}:$PATH"\n${step}`)
  const environment = {
    ...{ COMMAND: `${quoted}; exit 5`, POND_STORE_INPUT: "", ARTIFACT: "sessions", FORMAT: "md", SINCE: "1h" },
    ...{ EXECUTION_FILE: "", RUNNER_TEMP: folder, GITHUB_OUTPUT: join(folder, "output") },
  }
  const shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", join(folder, "step.sh")]
  const ran = runIn(place, client, "action", shell, environment)
  const report = join(folder, "pond-report.json")
  const said = existsSync(report) ? (JSON.parse(readFileSync(report, "utf8")) as Report) : undefined
  const code = ran.code === 5 ? [] : [`action: it ended with ${ran.code}: ${ran.complaints.slice(-300)}`]
  return [...code, ...storedOnce("action", client, said)]
}
