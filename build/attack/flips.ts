/**
 * `bun run attack flips [ROUNDS]`: one bit of one file of a store is flipped, again and again, and each time
 * `check --read-data` must name the file and the sessions in it. `POND_SEED` repeats a run.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import type { CheckedTable, TableDamage } from "../../src/substrate/table.ts"
import { runPond, temporaryHome } from "../../test/support/pond-process.ts"
import { writeDemo } from "../corpus/demo.ts"
import type { Chaos, Outcome } from "../lib/outcome.ts"

const ROUNDS = 1000
const OF_SESSIONS = /^(?:sessions|messages|parts)\.lance\/data\//
/** Locks are empty, and the engine finds the newest version without its hint. */
const LEFT_OUT = /\.(?:lock|readers|maintenance|writing)$|latest_version_hint\.json$/

export const attack: Chaos = {
  summary: "single bits of every file of a store, flipped one at a time: is each found?",
  run: async function* ([rounds]: readonly string[]): AsyncIterable<Outcome> {
    const seed = Number(process.env["POND_SEED"] ?? Math.floor(Math.random() * 2 ** 31))
    const random = seededRandom(seed)
    using home = temporaryHome()
    writeDemo(home.path)
    const root = join(home.path, "store")
    for (const args of [["sync"], ["optimize"]]) await runPond([...args, "-q", "--store", root], { env: home.env })
    const context = { log: silentLog, clock: systemClock, random }
    const store = openStore(parseLocation(root, { environment: {} }), context)
    const files = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !LEFT_OUT.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
      .filter((path) => statSync(join(root, path)).size > 0)
    const missed: string[] = []
    const count = Number(rounds ?? ROUNDS)
    for (let round = 0; round < count; round++) {
      const path = files[Math.floor(random.next() * files.length)] as string
      const whole = readFileSync(join(root, path))
      const bit = Math.floor(random.next() * whole.length * 8)
      const flipped = Buffer.from(whole)
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7))
      writeFileSync(join(root, path), flipped)
      const found = foundAt(await store.check({ isDeep: true }), path)
      const isNamed = found !== undefined && (!OF_SESSIONS.test(path) || (found.groups?.length ?? 0) > 0)
      if (!isNamed) missed.push(`bit ${bit} of ${path}`)
      writeFileSync(join(root, path), whole)
      rmSync(join(root, ".pond/damaged.json"), { force: true })
    }
    yield {
      what: `${count} flips over ${files.length} files (POND_SEED=${seed})`,
      isRight: missed.length === 0,
      found: `${count - missed.length} found${missed
        .slice(0, 5)
        .map((each) => `, not ${each}`)
        .join("")}`,
    }
  },
}

function foundAt(checked: readonly CheckedTable[], path: string): TableDamage | undefined {
  return checked
    .flatMap(({ table, damaged }) => damaged.map((each) => ({ ...each, path: join(`${table}.lance`, each.path) })))
    .find((each) => each.path === path)
}
