/** A session that was restored is judged: its client must list it, resume it, and send its model the same conversation. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Client } from "../../test/clients/client.ts"
import { CLIENTS, clientNamed } from "../../test/clients/clients.ts"
import { goOn } from "../../test/clients/continued.ts"
import { type Case, type Verdict as Judged, judge } from "../../test/clients/judge.ts"
import { knownOf } from "../../test/clients/known.ts"
import type { Item } from "../../test/clients/model/request.ts"
import type { Place } from "../../test/clients/place.ts"
import type { Options } from "./options.ts"
import {
  expectRefusal,
  type Held,
  homeFor,
  pond,
  type Restored,
  type RestoreReport,
  restoreInto,
  syncInto,
} from "./play.ts"
import { report, type Verdict } from "./verdict.ts"

export function judgeScenario(
  place: Place,
  client: Client,
  { scenario, root, sessions }: Held,
  options: Options,
): Verdict[] {
  const scratch = mkdtempSync(join(tmpdir(), "pond-clients-"))
  try {
    const store = syncInto(scratch, client, root, options)
    return Object.entries(sessions).flatMap(([session, expected]) =>
      targetsOf(client, options).flatMap((target) => {
        const restored = {
          place,
          client,
          target,
          scenario,
          scratch,
          store,
          session,
          expected,
          isAnew: options.anew,
          options,
        }
        try {
          return judgeRestored(restored)
        } catch (error) {
          return [reportRestored(restored, false, error instanceof Error ? error.message : String(error))]
        }
      }),
    )
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The old package of pi is a source of old sessions: what it writes goes back to it, and on in its successor. Else it is asked for. */
export function targetsOf(client: Client, options: Options): readonly Client[] {
  if (options.native) return [client]
  if (options.to !== undefined) return options.to.split(",").map(clientNamed)
  const all = client.name === "pi-old" ? [client, clientNamed("pi")] : CLIENTS.filter(({ name }) => name !== "pi-old")
  return options.foreign ? all.filter(({ name }) => name !== client.name) : all
}

export function judgeRestored(restored: Restored): Verdict[] {
  const { client, target, scenario, session, isAnew, options } = restored
  const home = homeFor(restored)
  const { asked: restoredCase, where, isOutdated, losses } = restoreCase(restored, home)
  if (options.twice) {
    expectRefusal(restored, home, session, where)
    restoreInto(restored, home, session, [...where, "--force"])
  }
  const known = isAnew ? undefined : knownOf(client.name, scenario, session, target.name)
  const { wanted: items } = restoredCase
  const asked = { ...restoredCase, wanted: known?.sends?.(items) ?? items }
  if (isOutdated) return [...judgeUnopened(restored, asked), ...judgeRestored({ ...restored, isAnew: true })]
  const judged = options.continued ? judgeContinued(restored, asked, where) : judge(asked)
  const { faults: expectedFaults = [], why = "" } = known ?? {}
  if (expectedFaults.length === 0) return [{ ...reportRestored(restored, judged.isGood, judged.said), losses }]
  const isAsKnown =
    judged.faults.length === expectedFaults.length &&
    expectedFaults.every((each) => judged.faults.some((fault) => each.test(fault)))
  return [
    isAsKnown
      ? reportUnable(restored, why, judged)
      : reportRestored(restored, false, `not as it is known to be: ${judged.said}`),
  ]
}

interface RestoredCase {
  readonly asked: Case
  readonly where: readonly string[]
  readonly isOutdated: boolean
  readonly losses: RestoreReport["losses"]
}

/** Restores a session into a home, and says what its client must send of it. */
export function restoreCase(restored: Restored, home: string): RestoredCase {
  const { place, client, target, session, expected, isAnew, options } = restored
  const cwd = options.moved ? place.elsewhere : expected.cwd
  const where = options.moved || options.fixtures || client.isApart === true ? ["--cwd", cwd] : []
  const isForeign = isAnew || client.adapter !== target.adapter
  const { session_id: id, outdated: isOutdated, losses } = restoreInto(restored, home, session, where)
  const told = mapResults(expected.items, client.asStored)
  const wanted = dropLost(isForeign ? mapResults(told, client.withoutAdded) : told, losses)
  const { project } = expected
  const held = isForeign || project === undefined ? {} : { project }
  const asked = { place, client: target, home, session: id, cwd, wanted, isForeign, ...held }
  return { asked, where, isOutdated, losses }
}

/** Its client must send nothing of it, or it was not to be written anew. Over a server that lists it, all of it. */
function judgeUnopened(restored: Restored, asked: Case): Verdict[] {
  const { client, session, home } = asked
  const judged = judge(asked)
  if (judged.isOpened)
    return [reportRestored(restored, false, `pond says that it is not opened, and it is: ${judged.said}`)]
  const verdict = reportUnable(restored, "no form that it opens; pond says so, and pond resume writes it anew", judged)
  const isListed = client.sessions(home).some(({ id }) => id === session)
  if (client.served === undefined || !isListed) return [verdict]
  const { isGood, said } = judge({ ...asked, isServed: true })
  return [verdict, reportRestored(restored, isGood, `over its server: ${said}`)]
}

/** What was said since comes from the store as what was said before does, and is there once. */
function judgeContinued(restored: Restored, asked: Case, where: readonly string[]): Judged {
  const { scratch, store, target } = restored
  const { items, faults } = goOn(asked)
  const sync = ["sync", target.adapter, "--path", join(asked.home, target.folder), "--json"]
  const [first, second] = [sync, sync].map((words) => newIn(pond(scratch, store, words)))
  const home = homeFor(restored)
  restoreInto(restored, home, asked.session, where)
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

/** What a client says of a result to its model alone is in no session. */
function mapResults(items: readonly Item[], change: ((text: string) => string) | undefined): readonly Item[] {
  if (change === undefined) return items
  return items.map((item) => (item.role === "result" ? { ...item, text: change(item.text ?? "") } : item))
}

/** A call that nothing answered has no place in some clients, which the restore says. */
function dropLost(items: readonly Item[], losses: RestoreReport["losses"]): readonly Item[] {
  const answered = new Set(items.flatMap(({ role, id }) => (role === "result" ? [id] : [])))
  const isUnanswered = ({ role, id }: Item) => role === "call" && !answered.has(id)
  const lost = losses.find(({ kind }) => kind === "unanswered_call")?.count ?? 0
  return lost === items.filter(isUnanswered).length ? items.filter((item) => !isUnanswered(item)) : items
}

export function reportRestored(restored: Restored, isGood: boolean, said: string): Verdict {
  return report({ ...headOf(restored), isGood }, whatOf(restored), said)
}

function reportUnable(restored: Restored, why: string, { said }: Judged): Verdict {
  return report({ ...headOf(restored), isGood: false, cannot: why }, whatOf(restored), `${why} (${said})`)
}

function headOf({ client, target, scenario }: Restored): Pick<Verdict, "pair" | "scenario"> {
  return { pair: `${client.name} -> ${target.name}`, scenario }
}

function whatOf({ session, isAnew }: Restored): string {
  return isAnew ? `${session} anew` : session
}
