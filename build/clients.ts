/**
 * `bun run clients`: the clients themselves are the judges. They are installed from npm, play their scenarios against a
 * scripted model, and each session that they left is synced into a store, restored into a fresh home (of its own client, and
 * of every other one), and handed to the target, which must list it, resume it, and send its model the same conversation.
 *
 * CLIENTS_ROOT names an installation to use, with what it has produced already; else one is made for temporary files.
 *   bun run clients                           everything, for most of an hour
 *   bun run clients --native                  into its own client alone
 *   bun run clients --from pi --to codex      one pair
 *   bun run clients --scenario tools,fork     these scenarios alone
 *   bun run clients --moved                   the sessions go on in another directory (--cwd)
 *   bun run clients --reasoning drop          what becomes of reasoning in another client
 *   bun run clients --recall                  the clients ask pond over MCP
 *   bun run clients --registered              pond init tells them of pond, and their own lists say so
 * Needs Linux, npm, git, unshare and ip. The clients see no network and no home but the one that they are given.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { CLIENTS, type Client, clientNamed } from "../test/clients/clients.ts"
import { judge } from "../test/clients/judge.ts"
import { install, type Place, placeOf } from "../test/clients/place.ts"
import { type Expected, type ExpectedSession, produce, scenariosOf } from "../test/clients/produce.ts"
import { recall } from "../test/clients/recall.ts"
import { registered } from "../test/clients/registered.ts"
import { REPOSITORY } from "../test/clients/run.ts"

interface Verdict {
  readonly pair: string
  readonly scenario: string
  readonly isGood: boolean
}

const { values } = parseArgs({
  options: {
    from: { type: "string" },
    to: { type: "string" },
    scenario: { type: "string" },
    native: { type: "boolean", default: false },
    moved: { type: "boolean", default: false },
    reasoning: { type: "string", default: "text" },
    recall: { type: "boolean", default: false },
    registered: { type: "boolean", default: false },
  },
})

main(placeOf())

function main(place: Place): void {
  const from = values.from === undefined ? CLIENTS : [clientNamed(values.from)]
  const needed = new Set(from.flatMap((client) => [client, ...targetsOf(client)]))
  for (const installed of install(place, [...needed])) console.log(`installed ${installed}`)
  const isAsked = values.recall || values.registered
  const verdicts = isAsked ? [] : from.flatMap((client) => judgeAll(place, client))
  if (values.scenario === undefined && !values.native && values.to === undefined) {
    if (!values.registered) verdicts.push(...overMcp(place, from, "recall", recall))
    if (!values.recall) verdicts.push(...overMcp(place, from, "registered", registered))
  }
  summarize(verdicts)
  process.exitCode = verdicts.length > 0 && verdicts.every(({ isGood }) => isGood) ? 0 : 1
}

function report(verdict: Verdict, what: string, said: string): Verdict {
  console.log(`${verdict.isGood ? "ok  " : "FAIL"} ${verdict.pair} ${verdict.scenario} ${what}: ${said}`)
  return verdict
}

function judgeAll(place: Place, client: Client): Verdict[] {
  const wanted = values.scenario?.split(",")
  const scenarios = scenariosOf(client).filter((name) => wanted === undefined || wanted.includes(name))
  return scenarios.flatMap((scenario) => {
    try {
      return judgeScenario(place, client, scenario)
    } catch (error) {
      const verdict = { pair: client.name, scenario, isGood: false }
      return [report(verdict, "", error instanceof Error ? error.message : String(error))]
    }
  })
}

function judgeScenario(place: Place, client: Client, scenario: string): Verdict[] {
  const home = produce(place, client, scenario)
  const { sessions } = JSON.parse(readFileSync(join(home, "expected.json"), "utf8")) as Expected
  const scratch = mkdtempSync(join(tmpdir(), "pond-clients-"))
  try {
    const synced = pond(scratch, ["sync", client.adapter, "--path", join(home, client.folder)])
    if (synced.code !== 0) throw new Error(`pond sync ended with ${synced.code}: ${synced.complaints}${synced.said}`)
    return Object.entries(sessions).flatMap(([session, expected]) =>
      targetsOf(client).map((target) => judgeRestored({ place, client, target, scenario, scratch, session, expected })),
    )
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The old package of pi is a source of old sessions: what it writes goes back to it, and on in its successor. Else it is asked for. */
function targetsOf(client: Client): readonly Client[] {
  if (values.native) return [client]
  if (values.to !== undefined) return [clientNamed(values.to)]
  if (client.name === "pi-old") return [client, clientNamed("pi")]
  return CLIENTS.filter(({ name }) => name !== "pi-old")
}

interface Restored {
  readonly place: Place
  readonly client: Client
  readonly target: Client
  readonly scenario: string
  readonly scratch: string
  readonly session: string
  readonly expected: ExpectedSession
}

function judgeRestored({ place, client, target, scenario, scratch, session, expected }: Restored): Verdict {
  const home = mkdtempSync(join(scratch, "home-"))
  const root = join(home, target.folder)
  mkdirSync(root, { recursive: true })
  const pair = `${client.name} -> ${target.name}`
  const { items } = expected
  const cwd = values.moved ? place.elsewhere : expected.cwd
  const where = ["--to", target.adapter, "--root", root, ...(values.moved ? ["--cwd", cwd] : [])]
  const restored = pond(scratch, ["restore", session, ...where, "--reasoning", values.reasoning, "--json"])
  if (restored.code !== 0)
    return report({ pair, scenario, isGood: false }, session, `pond restore: ${restored.complaints}${restored.said}`)
  const { session_id } = JSON.parse(restored.said) as { session_id: string }
  const isForeign = client.adapter !== target.adapter
  const { isGood, said } = judge({ place, client: target, home, session: session_id, cwd, wanted: items, isForeign })
  return report({ pair, scenario, isGood }, session, said)
}

function pond(scratch: string, words: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [process.execPath, join(REPOSITORY, "src/main.ts"), ...words, "--store", join(scratch, "store")],
    { env: { PATH: process.env["PATH"] ?? "", HOME: scratch, TMPDIR: tmpdir() }, stderr: "pipe" },
  )
  return { code: exitCode, said: stdout.toString(), complaints: stderr.toString() }
}

/** What is about pond in a client, and not about sessions in pond. Nothing of a client that knows no MCP. */
function overMcp(place: Place, clients: readonly Client[], scenario: string, judgeOne: typeof recall): Verdict[] {
  return clients.flatMap((client) => {
    const verdict = judgeOne(place, client)
    if (verdict === undefined) return []
    return [report({ pair: `${client.name} -> pond`, scenario, isGood: verdict.isGood }, "", verdict.said)]
  })
}

function summarize(verdicts: readonly Verdict[]): void {
  for (const [pair, all] of Map.groupBy(verdicts, (each) => each.pair)) {
    const failed = all.filter(({ isGood }) => !isGood)
    const where = failed.length === 0 ? "" : `  (${[...new Set(failed.map(({ scenario }) => scenario))].join(", ")})`
    console.log(`${pair.padEnd(24)} ${all.length - failed.length} of ${all.length}${where}`)
  }
  if (verdicts.length === 0) console.log("Nothing was judged: no client has such a scenario, or goes there.")
}
