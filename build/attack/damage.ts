/**
 * `bun run attack damage`: every kind of damage at rest, on a disk and in buckets, in place and copied, with what was
 * stored still at hand and without: it costs the rows of the damaged files, is told until it is repaired, and what is
 * stored again is exactly what was lost.
 */
import {
  ALL,
  type DamagedPlace,
  fill,
  inBucket,
  KINDS,
  type Kind,
  onDisk,
  ROWS,
  rowsOf,
  TABLE,
} from "../../test/support/damage.ts"
import { startObjectServer } from "../../test/support/object-server.ts"
import type { Chaos, Outcome } from "../lib/outcome.ts"

export const attack: Chaos = {
  summary: "every kind of damage to files, on a disk and in buckets, in place and copied: what does each cost?",
  run: async function* (): AsyncIterable<Outcome> {
    await using server = await startObjectServer()
    const places: readonly (readonly [name: string, make: () => DamagedPlace])[] = [
      ["on a disk", onDisk],
      ["in a bucket", () => inBucket(server)],
      ["in a bucket of Google's", () => inBucket(server, "gs")],
    ]
    for (const [name, make] of places)
      for (const isCopied of [false, true])
        for (const isSourceThere of [true, false]) yield await outcomeOf(name, make, { isCopied, isSourceThere })
  },
}

async function outcomeOf(name: string, make: () => DamagedPlace, how: Case): Promise<Outcome> {
  const wrong: string[] = []
  for (const kind of KINDS) wrong.push(...(await faultsOf(kind, make, how)))
  const where = `${how.isCopied ? "copied" : "in place"}, what was stored is ${how.isSourceThere ? "there" : "gone"}`
  return {
    what: `${KINDS.length} kinds of damage ${name}, ${where}`,
    isRight: wrong.length === 0,
    found: wrong.length === 0 ? "each costs its own rows" : wrong.slice(0, 5).join("; "),
  }
}

interface Case {
  readonly isCopied: boolean
  readonly isSourceThere: boolean
}

async function faultsOf(kind: Kind, make: () => DamagedPlace, { isCopied, isSourceThere }: Case): Promise<string[]> {
  const made = make()
  const filled = await fill(made)
  kind.damage(filled)
  const place = isCopied ? made.copied() : made
  const faults: string[] = []
  const expectSame = (what: string, found: number, wanted: number) => {
    if (found !== wanted) faults.push(`${kind.what}: ${what} ${found}, not ${wanted}`)
  }
  try {
    const lost = kind.lost.length * ROWS
    const left = ALL.length - lost
    const checked = await place.open().check({ isDeep: true })
    expectSame("rows said to be lost", checked[0]?.lostRows ?? -1, lost)
    const told: string[] = []
    expectSame("rows read", await place.open(told).table(TABLE).count(), left)
    expectSame("warnings", told.length, 1)
    await place.open().repair()
    expectSame("rows after the repair", await place.open().table(TABLE).count(), left)
    const given = isSourceThere ? ALL : rowsOf(0).slice(0, 1)
    const { inserted } = await place.open().table(TABLE).insertAbsent(given)
    expectSame("rows stored again", inserted, isSourceThere ? lost : Number(kind.lost.includes(0)))
    const after = isSourceThere ? ALL.length : left + inserted
    expectSame("rows at the end", await place.open().table(TABLE).count(), after)
    const again = await place.open().check({ isDeep: true })
    expectSame("damaged at the end", again.flatMap(({ damaged }) => damaged).length, 0)
  } catch (error) {
    faults.push(`${kind.what}: ${String(error)}`)
  } finally {
    place.end()
  }
  return faults
}
