/**
 * Judges the pairs that the table does not have yet, or has as failed, target by target. Every source is stored once, all that
 * a target is to go on with is restored into one home, and that home is asked once for its list: a pair costs one start of the
 * target, where it costs two and a sync of its own otherwise. A pair that fails so is judged again in a home without the others.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Client } from "../../test/clients/client.ts"
import { CLIENTS, clientNamed } from "../../test/clients/clients.ts"
import { judge, listOf, prepare } from "../../test/clients/judge.ts"
import { readMatrix, recordMatrix } from "../../test/clients/matrix.ts"
import type { Place } from "../../test/clients/place.ts"
import { scenariosOf } from "../../test/clients/produce.ts"
import { judgeRestored, reportRestored, restoreCase } from "./judge-restored.ts"
import type { Options } from "./options.ts"
import { homeFor, playScenario, type Restored, syncInto } from "./play.ts"
import { judgedPair, report, type Verdict } from "./verdict.ts"

/** What is played where no scenario is named: several calls at once, one that fails, and every kind of text. */
const SCENARIO = "tools"

interface Stored {
  readonly client: Client
  readonly sessions: readonly Restored[]
}

export function judgeMissing(place: Place, from: readonly Client[], options: Options): Verdict[] {
  const scratch = mkdtempSync(join(tmpdir(), "pond-clients-"))
  const stored = new Map<string, Stored>()
  const targets = options.to === undefined ? CLIENTS : options.to.split(",").map(clientNamed)
  try {
    return targets.flatMap((target) => {
      const known = readMatrix()
      const absent = from.filter(({ name }) => (known[`${name} -> ${target.name}`]?.failed ?? 1) > 0)
      const verdicts = absent.flatMap((client) => failuresOfStoring(place, client, scratch, stored, options))
      const sessions = absent.flatMap(({ name }) => stored.get(name)?.sessions ?? [])
      // Each pair at once: what was judged stays where a run is stopped.
      const record = (pair: readonly Verdict[]) => {
        if (options.matrix) recordMatrix(pair.flatMap(judgedPair), new Date().toISOString().slice(0, 10))
      }
      return [...verdicts, ...judgeTogether(target, sessions, record)]
    })
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** A source that cannot be played or read is said once, and its other pairs are judged. */
function failuresOfStoring(
  place: Place,
  client: Client,
  scratch: string,
  stored: Map<string, Stored>,
  options: Options,
): Verdict[] {
  if (stored.has(client.name)) return []
  const own = join(scratch, client.name)
  mkdirSync(own)
  const scenarios = options.scenario?.split(",") ?? [SCENARIO]
  try {
    const sessions = scenariosOf(client)
      .filter((name) => scenarios.includes(name))
      .flatMap((name) => {
        const held = playScenario(place, client, name)
        const shared = { place, client, target: client, scenario: name, scratch: own, isAnew: options.anew, options }
        const store = syncInto(own, client, held.root, options)
        return Object.entries(held.sessions).map(([session, expected]) => ({ ...shared, store, session, expected }))
      })
    stored.set(client.name, { client, sessions })
    return []
  } catch (error) {
    stored.set(client.name, { client, sessions: [] })
    return [report({ pair: client.name, scenario: scenarios.join(), isGood: false }, "", messageOf(error))]
  }
}

function judgeTogether(
  target: Client,
  sessions: readonly Restored[],
  onPair: (verdicts: readonly Verdict[]) => void,
): Verdict[] {
  const [first] = sessions
  if (first === undefined) return []
  const home = homeFor({ ...first, target })
  const restored = sessions.map((each) => {
    const one = { ...each, target }
    try {
      return { one, restored: restoreCase(one, home) }
    } catch (error) {
      return { one, failure: messageOf(error) }
    }
  })
  const { place } = first
  const asked = { place, client: target, home, cwd: place.alpha }
  prepare(asked)
  const listed = listOf(asked) ?? ""
  const pairs = Map.groupBy(restored, ({ one }) => one.client.name)
  return [...pairs.values()].flatMap((all) => {
    const verdicts = all.flatMap(({ one, restored: made, failure }) => {
      if (made === undefined) return again(one, failure)
      if (made.isOutdated) return judgeRestored(one)
      const isListed = listed.includes(made.asked.session) ? ({ isListed: true } as const) : {}
      const { isGood, said } = judge({ ...made.asked, ...isListed })
      if (!isGood) return again(one, said)
      return [{ ...reportRestored(one, true, said), losses: made.losses }]
    })
    onPair(verdicts)
    return verdicts
  })
}

/** Alone. Where that is well, the others in its home were the cause, which is printed. */
function again(restored: Restored, said: string): Verdict[] {
  console.log(`     ${restored.client.name} -> ${restored.target.name} beside others: ${said}`)
  try {
    return judgeRestored(restored)
  } catch (error) {
    return [reportRestored(restored, false, messageOf(error))]
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
