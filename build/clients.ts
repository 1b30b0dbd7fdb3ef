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
 *   bun run clients --missing                 the pairs that are not in it yet, all sources in one home of each target
 *
 * It ends with how many are ok, how many a client cannot (and how that is known), and how many failed.
 * Needs Linux, npm, git, unshare and ip. The clients see no network and no home but the one that they are given.
 */
import { blame } from "../test/clients/blame.ts"
import { captured } from "../test/clients/captured.ts"
import type { Client } from "../test/clients/client.ts"
import { CLIENTS, clientNamed } from "../test/clients/clients.ts"
import { fixturesNamed } from "../test/clients/generations.ts"
import { hooks } from "../test/clients/hooks.ts"
import { recordMatrix } from "../test/clients/matrix.ts"
import { install, type Place, placeOf } from "../test/clients/place.ts"
import { scenariosOf } from "../test/clients/produce.ts"
import { recall } from "../test/clients/recall.ts"
import { registered } from "../test/clients/registered.ts"
import { judgeScenario, targetsOf } from "./clients/judge-restored.ts"
import { judgeMissing } from "./clients/missing.ts"
import { type Options, readOptions } from "./clients/options.ts"
import { openFixture, playScenario } from "./clients/play.ts"
import { isFailed, judgedPair, report, summarize, type Verdict } from "./clients/verdict.ts"

await main(placeOf(), readOptions())

async function main(place: Place, options: Options): Promise<void> {
  const from = options.from === undefined ? CLIENTS : options.from.split(",").map(clientNamed)
  const isAsked = options.recall || options.hooks || options.registered || options.blame || options.captured
  // What is asked of a client alone needs no other.
  const needed = new Set(from.flatMap((client) => [client, ...(isAsked ? [] : targetsOf(client, options))]))
  for (const installed of install(place, [...needed])) console.log(`installed ${installed}`)
  const verdicts: Verdict[] = []
  if (options.missing) verdicts.push(...judgeMissing(place, from, options))
  else for (const client of isAsked ? [] : from) verdicts.push(...(await judgeAll(place, client, options)))
  if (isEverything(options) || isAsked) verdicts.push(...judgeAlone({ place, from, options, isAll: !isAsked }))
  summarize(verdicts)
  if (options.matrix && !options.missing)
    recordMatrix(verdicts.flatMap(judgedPair), new Date().toISOString().slice(0, 10))
  process.exitCode = verdicts.length > 0 && !verdicts.some(isFailed) ? 0 : 1
}

interface Alone {
  readonly place: Place
  readonly from: readonly Client[]
  readonly options: Options
  /** Everything is judged, and not what the command line names alone. */
  readonly isAll: boolean
}

/** What is asked of each client alone: all of it, or what the command line names. */
function judgeAlone({ place, from, options, isAll }: Alone): readonly Verdict[] {
  const judges = [
    [options.recall, "recall", recall],
    [options.hooks, "hooks", hooks],
    [options.captured, "captured", captured],
    [options.registered, "registered", registered],
    [options.blame, "blame", blame],
  ] as const
  return judges.flatMap(([isAsked, name, judgeOf]) => (isAsked || isAll ? overMcp(place, from, name, judgeOf) : []))
}

function isEverything(options: Options): boolean {
  return (
    options.scenario === undefined &&
    !options.native &&
    !options.foreign &&
    !options.fixtures &&
    !options.missing &&
    options.to === undefined
  )
}

async function judgeAll(place: Place, client: Client, options: Options): Promise<Verdict[]> {
  const wanted = options.scenario?.split(",")
  const all = options.fixtures ? fixturesNamed(client) : scenariosOf(client)
  const verdicts: Verdict[] = []
  for (const scenario of all.filter((name) => wanted === undefined || wanted.includes(name))) {
    try {
      const held = options.fixtures ? await openFixture(place, client, scenario) : playScenario(place, client, scenario)
      verdicts.push(...judgeScenario(place, client, held, options))
    } catch (error) {
      const verdict = { pair: client.name, scenario, isGood: false }
      verdicts.push(report(verdict, "", error instanceof Error ? error.message : String(error)))
    }
  }
  return verdicts
}

/** What is about pond in a client, and not about sessions in pond. Nothing of a client that knows no MCP. */
function overMcp(place: Place, clients: readonly Client[], scenario: string, judgeOne: typeof recall): Verdict[] {
  return clients.flatMap((client) => {
    const verdict = judgeOne(place, client)
    if (verdict === undefined) return []
    return [report({ pair: `${client.name} -> pond`, scenario, isGood: verdict.isGood }, "", verdict.said)]
  })
}
