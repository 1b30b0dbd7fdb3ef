/**
 * `bun run attack flips [ROUNDS]`: one bit of one file of a store is flipped, again and again, and each time
 * `check --read-data` must name the file and the sessions in it. On a disk and in buckets. `POND_SEED` repeats a run.
 */
import { join } from "node:path"
import { seededRandom } from "../../src/platform/host/random.ts"
import type { CheckedTable, TableDamage } from "../../src/substrate/table.ts"
import { type DamagedPlace, inBucket, onDisk } from "../../test/support/damage.ts"
import { startObjectServer } from "../../test/support/object-server.ts"
import { runPond, temporaryHome } from "../../test/support/pond-process.ts"
import { writeDemo } from "../corpus/demo.ts"
import type { Chaos, Outcome } from "../lib/outcome.ts"

const ROUNDS = 1000
const OF_SESSIONS = /^(?:sessions|messages|parts)\.lance\/data\//
/**
 * Locks are empty, the engine finds the newest version without its hint, and the check itself writes what it found. Each
 * reader of an opening checks it, and reads the files where it is damaged (`test/substrate/bucket-opening.test.ts`).
 */
const LEFT_OUT = /\.(?:lock|readers|maintenance|writing)$|latest_version_hint\.json$|damaged\.json$|\.pond\/opening$/

export const attack: Chaos = {
  summary: "single bits of every file of a store, flipped one at a time: is each found?",
  run: async function* ([rounds]: readonly string[]): AsyncIterable<Outcome> {
    const seed = Number(process.env["POND_SEED"] ?? Math.floor(Math.random() * 2 ** 31))
    const count = Number(rounds ?? ROUNDS)
    await using server = await startObjectServer()
    using home = temporaryHome()
    writeDemo(home.path)
    const places = [
      ["on a disk", onDisk(join(home.path, "store"))],
      ["in a bucket", inBucket(server)],
      ["in a bucket of Google's", inBucket(server, "gs")],
    ] as const
    for (const [name, place] of places) yield await flipBits(name, place, { home, count, seed })
  },
}

interface Flipping {
  readonly home: ReturnType<typeof temporaryHome>
  readonly count: number
  readonly seed: number
}

async function flipBits(name: string, place: DamagedPlace, { home, count, seed }: Flipping): Promise<Outcome> {
  const random = seededRandom(seed)
  const env = { ...home.env, ...place.environment }
  for (const args of [["sync", "--full"], ["optimize"]]) await runPond([...args, "-q", "--store", place.url], { env })
  const files = place.paths().filter((path) => !LEFT_OUT.test(path) && place.read(path).length > 0)
  const store = place.open()
  const missed: string[] = []
  for (let round = 0; round < count; round++) {
    const path = files[Math.floor(random.next() * files.length)] as string
    const whole = place.read(path)
    const bit = Math.floor(random.next() * whole.length * 8)
    const flipped = Buffer.from(whole)
    flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7))
    place.write(path, flipped)
    const found = foundAt(await store.check({ isDeep: true }), path)
    const isNamed = found !== undefined && (!OF_SESSIONS.test(path) || (found.groups?.length ?? 0) > 0)
    if (!isNamed) missed.push(`bit ${bit} of ${path}`)
    place.write(path, whole)
    if (place.paths().includes(".pond/damaged.json")) place.remove(".pond/damaged.json")
  }
  const shown = missed.slice(0, 5).map((each) => `, not ${each}`)
  return {
    what: `${count} flips over ${files.length} files ${name} (POND_SEED=${seed})`,
    isRight: missed.length === 0,
    found: `${count - missed.length} found${shown.join("")}`,
  }
}

function foundAt(checked: readonly CheckedTable[], path: string): TableDamage | undefined {
  return checked
    .flatMap(({ table, damaged }) => damaged.map((each) => ({ ...each, path: join(`${table}.lance`, each.path) })))
    .find((each) => each.path === path)
}
