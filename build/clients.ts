/**
 * `bun run clients`: the clients themselves are the judges. They are installed from npm, play their scenarios against a
 * scripted model, and each session that they left is synced into a store, restored into a fresh home (of its own client, and
 * of every other one), and handed to the target, which must list it, resume it, and send its model the same conversation.
 *
 * CLIENTS_ROOT names an installation to use, with what it has produced already; else one is made for temporary files.
 *   bun run clients                           everything, for most of an hour
 *   bun run clients --native                  into its own client alone
 *   bun run clients --foreign                 into the others alone
 *   bun run clients --from pi --to codex      one pair
 *   bun run clients --scenario tools,fork     these scenarios alone
 *   bun run clients --moved                   the sessions go on in another directory (--cwd)
 *   bun run clients --fixtures                the sessions of fixtures/: generations that no installed client writes. Those that
 *                                             their client does not open go on anew, as `pond resume` has it
 *   bun run clients --fixtures --anew         all of these, written as their own client writes today
 *   bun run clients --archived                by way of an archive file and another store
 *   bun run clients --twice                   restored where they are already: refused (a database: nothing to do), and done with --force
 *   bun run clients --continued               the target goes on, is synced, and what was said since is restored too
 *   bun run clients --reasoning drop          what becomes of reasoning in another client
 *   bun run clients --recall                  the clients ask pond over MCP
 *   bun run clients --hooks                   `pond hook` is asked before prompts, and what it adds is in what the model gets
 *   bun run clients --captured                `pond capture` around them, and the steps of the action
 *   bun run clients --blame                   the clients work in a repository, and git judges `pond blame`
 *   bun run clients --registered              pond init tells them of pond, and their own lists say so
 *   bun run clients --matrix                  also writes what was judged into test/clients/MATRIX.md: all pairs, or those asked for
 *
 * It ends with how many are ok, how many a client cannot (and how that is known), and how many failed.
 * Needs Linux, npm, git, unshare and ip. The clients see no network and no home but the one that they are given.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { adapterById } from "../src/adapters/registry.ts"
import { blame } from "../test/clients/blame.ts"
import { captured } from "../test/clients/captured.ts"
import type { Client } from "../test/clients/client.ts"
import { CLIENTS, clientNamed } from "../test/clients/clients.ts"
import { goOn } from "../test/clients/continued.ts"
import { EDITING_CLIENTS } from "../test/clients/editing-clients.ts"
import { fixtureOf, fixturesNamed } from "../test/clients/generations.ts"
import { hooks } from "../test/clients/hooks.ts"
import { type Case, type Verdict as Judged, judge } from "../test/clients/judge.ts"
import { knownOf } from "../test/clients/known.ts"
import { type Judged as Judgement, recordMatrix } from "../test/clients/matrix.ts"
import type { Item } from "../test/clients/model/request.ts"
import { install, type Place, placeOf } from "../test/clients/place.ts"
import { type Expected, type ExpectedSession, produce, scenariosOf } from "../test/clients/produce.ts"
import { recall } from "../test/clients/recall.ts"
import { registered } from "../test/clients/registered.ts"
import { REPOSITORY } from "../test/clients/run.ts"

interface Verdict {
  readonly pair: string
  readonly scenario: string
  readonly isGood: boolean
  /** It is not good, and is known to be the client's doing. */
  readonly cannot?: string
  readonly losses?: RestoreReport["losses"]
}

const { values } = parseArgs({
  options: {
    from: { type: "string" },
    to: { type: "string" },
    scenario: { type: "string" },
    native: { type: "boolean", default: false },
    foreign: { type: "boolean", default: false },
    moved: { type: "boolean", default: false },
    archived: { type: "boolean", default: false },
    fixtures: { type: "boolean", default: false },
    anew: { type: "boolean", default: false },
    twice: { type: "boolean", default: false },
    continued: { type: "boolean", default: false },
    reasoning: { type: "string", default: "text" },
    recall: { type: "boolean", default: false },
    hooks: { type: "boolean", default: false },
    registered: { type: "boolean", default: false },
    blame: { type: "boolean", default: false },
    captured: { type: "boolean", default: false },
    matrix: { type: "boolean", default: false },
  },
})

/** What a sync ends with that has said what is broken in its sources. */
const NOT_WHOLE = 4
const WOULD_OVERWRITE = 8

await main(placeOf())

async function main(place: Place): Promise<void> {
  const { from, editing } = chosenClients()
  const isAsked = values.recall || values.hooks || values.registered || values.blame || values.captured
  // What is asked of a client alone needs no other.
  const needed = new Set(from.flatMap((client) => [client, ...(isAsked ? [] : targetsOf(client))]))
  for (const installed of install(place, [...needed, ...editing])) console.log(`installed ${installed}`)
  const verdicts: Verdict[] = []
  for (const client of isAsked ? [] : from) verdicts.push(...(await judgeAll(place, client)))
  if (isEverything() || isAsked) verdicts.push(...judgeAlone(place, from, editing, !isAsked))
  summarize(verdicts)
  process.exitCode = verdicts.length > 0 && !verdicts.some(isFailed) ? 0 : 1
}

/** What is asked of each client alone: all of it, or what the command line names. */
function judgeAlone(
  place: Place,
  from: readonly Client[],
  editing: readonly Client[],
  isAll: boolean,
): readonly Verdict[] {
  const judges = [
    [values.recall, from, "recall", recall],
    [values.hooks, from, "hooks", hooks],
    [values.captured, from, "captured", captured],
    [values.registered, from, "registered", registered],
    [values.blame, [...from, ...editing], "blame", blame],
  ] as const
  return judges.flatMap(([isAsked, clients, name, judgeOf]) =>
    isAsked || isAll ? overMcp(place, clients, name, judgeOf) : [],
  )
}

/** Those that edit files alone are judged by git alone. */
function chosenClients(): { readonly from: readonly Client[]; readonly editing: readonly Client[] } {
  const editing = EDITING_CLIENTS.filter(({ name }) => values.blame && (values.from ?? name) === name)
  if (values.from === undefined) return { from: CLIENTS, editing }
  return { from: editing.length > 0 ? [] : [clientNamed(values.from)], editing }
}

/** Nothing of a verdict that is about one client alone. */
function judgedPair(verdict: Verdict): Judgement[] {
  const [from = "", to] = verdict.pair.split(" -> ")
  if (to === undefined || to === "pond") return []
  const otherwise = isFailed(verdict) ? "failed" : "cannot"
  const outcome = verdict.isGood ? "ok" : otherwise
  return [{ from, to, scenario: verdict.scenario, outcome, losses: verdict.losses ?? [] }]
}

function isEverything(): boolean {
  return (
    values.scenario === undefined && !values.native && !values.foreign && !values.fixtures && values.to === undefined
  )
}

function report(verdict: Verdict, what: string, said: string): Verdict {
  const able = verdict.isGood ? "ok  " : "----"
  console.log(`${isFailed(verdict) ? "FAIL" : able} ${verdict.pair} ${verdict.scenario} ${what}: ${said}`)
  return verdict
}

function isFailed({ isGood, cannot }: Verdict): boolean {
  return !isGood && cannot === undefined
}

async function judgeAll(place: Place, client: Client): Promise<Verdict[]> {
  const wanted = values.scenario?.split(",")
  const all = values.fixtures ? fixturesNamed(client) : scenariosOf(client)
  const verdicts: Verdict[] = []
  for (const scenario of all.filter((name) => wanted === undefined || wanted.includes(name))) {
    try {
      const held = values.fixtures ? await fixtureHeld(place, client, scenario) : played(place, client, scenario)
      verdicts.push(...judgeScenario(place, client, held))
    } catch (error) {
      const verdict = { pair: client.name, scenario, isGood: false }
      verdicts.push(report(verdict, "", error instanceof Error ? error.message : String(error)))
    }
  }
  return verdicts
}

/** Sessions as they lie somewhere, and what each must say. */
interface Held {
  readonly scenario: string
  readonly root: string
  readonly sessions: Expected["sessions"]
}

function played(place: Place, client: Client, scenario: string): Held {
  const home = produce(place, client, scenario)
  const { sessions } = JSON.parse(readFileSync(join(home, "expected.json"), "utf8")) as Expected
  return { scenario, root: join(home, client.folder), sessions }
}

/** Their directories are of no machine: they go on in one that is there. */
async function fixtureHeld({ alpha }: Place, client: Client, scenario: string): Promise<Held> {
  const { root, conversations } = await fixtureOf(client, scenario)
  const sessions = [...conversations].map(([id, held]) => [id, { cwd: alpha, ...held }] as const)
  return { scenario, root, sessions: Object.fromEntries(sessions) }
}

function judgeScenario(place: Place, client: Client, { scenario, root, sessions }: Held): Verdict[] {
  const scratch = mkdtempSync(join(tmpdir(), "pond-clients-"))
  try {
    const store = storeOf(scratch, client, root)
    return Object.entries(sessions).flatMap(([session, expected]) =>
      targetsOf(client).flatMap((target) => {
        const restored = { place, client, target, scenario, scratch, store, session, expected, isAnew: values.anew }
        try {
          return judgeRestored(restored)
        } catch (error) {
          return [reported(restored, false, error instanceof Error ? error.message : String(error))]
        }
      }),
    )
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function storeOf(scratch: string, client: Client, root: string): string {
  const store = join(scratch, "store")
  const { code, said, complaints } = spawnPond(scratch, store, ["sync", client.adapter, "--path", root])
  // Some fixtures are damaged, which a sync says.
  if (code !== 0 && !(values.fixtures && code === NOT_WHOLE))
    throw new Error(`pond sync ended with ${code}: ${complaints}${said}`)
  if (!values.archived) return store
  const [archive, other] = [join(scratch, "all.pond"), join(scratch, "other")]
  pond(scratch, store, ["export", "-o", archive])
  pond(scratch, other, ["import", archive])
  return other
}

/** The old package of pi is a source of old sessions: what it writes goes back to it, and on in its successor. Else it is asked for. */
function targetsOf(client: Client): readonly Client[] {
  if (values.native) return [client]
  if (values.to !== undefined) return [clientNamed(values.to)]
  const all = client.name === "pi-old" ? [client, clientNamed("pi")] : CLIENTS.filter(({ name }) => name !== "pi-old")
  return values.foreign ? all.filter(({ name }) => name !== client.name) : all
}

interface Restored {
  readonly place: Place
  readonly client: Client
  readonly target: Client
  readonly scenario: string
  readonly scratch: string
  readonly store: string
  readonly session: string
  readonly expected: ExpectedSession
  readonly isAnew: boolean
}

/** As `pond restore --json` says it. */
interface RestoreReport {
  /** The id that the target knows the session by. */
  readonly session_id: string
  readonly outdated: boolean
  readonly losses: readonly { readonly kind: string; readonly count: number }[]
}

function judgeRestored(restored: Restored): Verdict[] {
  const { place, client, target, scenario, session, expected, isAnew } = restored
  const home = homeFor(restored)
  const cwd = values.moved ? place.elsewhere : expected.cwd
  const where = values.moved || values.fixtures || client.isApart === true ? ["--cwd", cwd] : []
  const isForeign = isAnew || client.adapter !== target.adapter
  const { session_id: id, outdated: isOutdated, losses } = restoredInto(restored, home, session, where)
  if (values.twice) {
    refused(restored, home, session, where)
    restoredInto(restored, home, session, [...where, "--force"])
  }
  const known = values.fixtures && !isAnew ? knownOf(client.name, scenario, session, target.name) : undefined
  const items = withoutLost(isForeign ? withoutAdded(client, expected.items) : expected.items, losses)
  const wanted = known?.sends?.(items) ?? items
  const { project } = expected
  const held = isForeign || project === undefined ? {} : { project }
  const asked = { place, client: target, home, session: id, cwd, wanted, isForeign, ...held }
  if (isOutdated) return [...judgeUnopened(restored, asked), ...judgeRestored({ ...restored, isAnew: true })]
  const judged = values.continued ? judgeContinued(restored, asked, where) : judge(asked)
  const { faults: expectedFaults = [], why = "" } = known ?? {}
  if (expectedFaults.length === 0) return [{ ...reported(restored, judged.isGood, judged.said), losses }]
  const isAsKnown =
    judged.faults.length === expectedFaults.length &&
    expectedFaults.every((each) => judged.faults.some((fault) => each.test(fault)))
  return [
    isAsKnown ? unable(restored, why, judged) : reported(restored, false, `not as it is known to be: ${judged.said}`),
  ]
}

/** Its client must send nothing of it, or it was not to be written anew. Over a server that lists it, all of it. */
function judgeUnopened(restored: Restored, asked: Case): Verdict[] {
  const { client, session, home } = asked
  const judged = judge(asked)
  if (judged.isOpened) return [reported(restored, false, `pond says that it is not opened, and it is: ${judged.said}`)]
  const verdict = unable(restored, "no form that it opens; pond says so, and pond resume writes it anew", judged)
  const isListed = client.sessions(home).some(({ id }) => id === session)
  if (client.served === undefined || !isListed) return [verdict]
  const { isGood, said } = judge({ ...asked, isServed: true })
  return [verdict, reported(restored, isGood, `over its server: ${said}`)]
}

/** What a client says of a result to its model alone, it does not take along. */
function withoutAdded({ withoutAdded: left }: Client, items: readonly Item[]): readonly Item[] {
  if (left === undefined) return items
  return items.map((item) => (item.role === "result" ? { ...item, text: left(item.text ?? "") } : item))
}

/** A call that nothing answered has no place in some clients, which the restore says. */
function withoutLost(items: readonly Item[], losses: RestoreReport["losses"]): readonly Item[] {
  const answered = new Set(items.flatMap(({ role, id }) => (role === "result" ? [id] : [])))
  const isUnanswered = ({ role, id }: Item) => role === "call" && !answered.has(id)
  const lost = losses.find(({ kind }) => kind === "unanswered_call")?.count ?? 0
  return lost === items.filter(isUnanswered).length ? items.filter((item) => !isUnanswered(item)) : items
}

/** What was said since comes from the store as what was said before does, and is there once. */
function judgeContinued(restored: Restored, asked: Case, where: readonly string[]): Judged {
  const { scratch, store, target } = restored
  const { items, faults } = goOn(asked)
  const sync = ["sync", target.adapter, "--path", join(asked.home, target.folder), "--json"]
  const [first, second] = [sync, sync].map((words) => newIn(pond(scratch, store, words)))
  const home = homeFor(restored)
  restoredInto(restored, home, asked.session, where)
  const judged = judge({ ...asked, home, wanted: items, isForeign: false })
  const problems = [
    ...faults.map((fault) => `as it went on: ${fault}`),
    ...(first === 0 ? ["nothing new was stored"] : []),
    ...(second === 0 ? [] : [`${second} new messages in a second sync`]),
  ]
  return {
    ...judged,
    ...{ isGood: judged.isGood && problems.length === 0, faults: [...judged.faults, ...problems] },
    said: [judged.said, ...problems].join("; "),
  }
}

function newIn(synced: string): number {
  const { adapters } = JSON.parse(synced) as {
    readonly adapters: readonly { readonly messages: { readonly new: number } }[]
  }
  return adapters.reduce((sum, { messages }) => sum + messages.new, 0)
}

function homeFor({ scratch, target }: Restored): string {
  const home = mkdtempSync(join(scratch, "home-"))
  mkdirSync(join(home, target.folder), { recursive: true })
  return home
}

function wordsOf({ target, isAnew }: Restored, home: string, session: string, more: readonly string[]): string[] {
  const where = ["--to", target.adapter, "--root", join(home, target.folder)]
  const how = [...(isAnew ? ["--anew"] : []), "--reasoning", values.reasoning, "--json"]
  return ["restore", session, ...where, ...more, ...how]
}

function restoredInto(restored: Restored, home: string, session: string, more: readonly string[]): RestoreReport {
  const { scratch, store } = restored
  return JSON.parse(pond(scratch, store, wordsOf(restored, home, session, more))) as RestoreReport
}

/** Rows that a database has already are written over nothing. */
function refused(restored: Restored, home: string, session: string, more: readonly string[]): void {
  const { code, said, complaints } = spawnPond(restored.scratch, restored.store, wordsOf(restored, home, session, more))
  const isDatabase = adapterById(restored.target.adapter)?.database !== undefined
  if (code !== (isDatabase ? 0 : WOULD_OVERWRITE))
    throw new Error(`A second restore ended with ${code}: ${complaints}${said}`)
}

function reported(restored: Restored, isGood: boolean, said: string): Verdict {
  return report({ ...headOf(restored), isGood }, whatOf(restored), said)
}

function unable(restored: Restored, why: string, { said }: Judged): Verdict {
  return report({ ...headOf(restored), isGood: false, cannot: why }, whatOf(restored), `${why} (${said})`)
}

function headOf({ client, target, scenario }: Restored): Pick<Verdict, "pair" | "scenario"> {
  return { pair: `${client.name} -> ${target.name}`, scenario }
}

function whatOf({ session, isAnew }: Restored): string {
  return isAnew ? `${session} anew` : session
}

function pond(scratch: string, store: string, words: readonly string[]): string {
  const { code, said, complaints } = spawnPond(scratch, store, words)
  if (code === 0) return said
  throw new Error(`pond ${words[0]} ended with ${code}: ${complaints}${said}`)
}

function spawnPond(scratch: string, store: string, words: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [process.execPath, join(REPOSITORY, "src/main.ts"), ...words, "--store", store],
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
  if (values.matrix) recordMatrix(verdicts.flatMap(judgedPair), new Date().toISOString().slice(0, 10))
  for (const [pair, all] of Map.groupBy(verdicts, (each) => each.pair)) {
    const failed = all.filter(isFailed)
    const where = failed.length === 0 ? "" : `  (${[...new Set(failed.map(({ scenario }) => scenario))].join(", ")})`
    const able = all.filter(({ cannot }) => cannot === undefined)
    console.log(`${pair.padEnd(24)} ${able.length - failed.length} of ${able.length}${where}`)
  }
  if (verdicts.length === 0) console.log("Nothing was judged: no client has such a scenario, or goes there.")
  const others = verdicts.filter(({ cannot }) => cannot !== undefined)
  for (const [why, all] of Map.groupBy(others, ({ cannot = "" }) => cannot)) {
    const which = new Set(all.map(({ pair, scenario }) => `${pair.split(" -> ").at(-1)}: ${scenario}`))
    console.log(`cannot: ${why} (${[...which].join(", ")})`)
  }
  const failed = verdicts.filter(isFailed).length
  console.log(`${verdicts.length - others.length - failed} ok, ${others.length} cannot, ${failed} FAIL`)
}
