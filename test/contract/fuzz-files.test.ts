/**
 * Damage on the disk: databases with broken pages, half a compressed log, an index of something else. What is planned is read
 * or named, nothing throws and nothing hangs. `bun run fuzz` does it for longer; `POND_SEED=… bun test test/contract/fuzz-files`
 * repeats one.
 */
import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Adapter } from "../../src/adapters/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { resolve } from "../../src/adapters/shared/resolve.ts"
import { type Random, seededRandom } from "../../src/platform/host/random.ts"
import { SEED } from "../support/seed.ts"
import { fixturesOf } from "./fixtures.ts"

/** A round costs files: there are fewer of them than in memory. */
const ROUNDS = Math.ceil(Number(process.env["POND_FUZZ_ROUNDS"] ?? 20_000) / 1000)
const ROUND_MS_MAX = 15_000

const below = (count: number, random: Random) => Math.floor(random.next() * count)

type Wound = (bytes: Buffer, random: Random) => Buffer

const WOUNDS: readonly Wound[] = [
  (bytes, random) => bytes.subarray(0, below(bytes.length, random)),
  (bytes, random) => {
    const at = below(bytes.length, random)
    return bytes.fill(0, at, Math.min(bytes.length, at + 4096))
  },
  (bytes, random) => {
    for (let flips = 1 + below(40, random); flips > 0 && bytes.length > 0; flips--)
      bytes[below(bytes.length, random)] = below(256, random)
    return bytes
  },
  // Two pages that changed places.
  (bytes, random) => {
    const [from, to] = [below(bytes.length, random), below(bytes.length, random)]
    bytes.copy(bytes, to, from, Math.min(bytes.length, from + 1024))
    return bytes
  },
  () => Buffer.alloc(0),
  (_, random) => Buffer.from("something else entirely ".repeat(1 + below(500, random))),
]

/**
 * Whether a database has its tables, and damage that SQLite's check of the whole file finds. Queries need not meet it: a flipped
 * count of cells makes a table look empty (POND_SEED=20260234 of Cursor), an index that lost its entry finds no key that is
 * there (20260217 of Trae), and where keys became null none is in a range (20260257 of Cursor). That check of a gigabyte costs
 * seconds at each sync. Where it finds nothing, what the rows hold is all there is to see, and the adapter has to name it.
 */
function isDamagedUnseen(path: string): boolean {
  try {
    using database = new Database(path, { readonly: true })
    if (database.query("select name from sqlite_master where type = 'table'").all().length === 0) return false
    return !isWhole(database)
  } catch {
    return false
  }
}

function isWhole(database: Database): boolean {
  try {
    const [first] = database.query<{ integrity_check: string }, []>("pragma integrity_check(1)").all()
    return first?.integrity_check === "ok"
  } catch {
    return false
  }
}

/** How many units were read, and how many issues were raised. */
async function survive(adapter: Adapter, root: string): Promise<{ units: number; issues: number }> {
  const counts = { units: 0, issues: 0 }
  for await (const unit of adapter.source.plan(root)) {
    if (!("files" in unit)) {
      counts.issues++
      continue
    }
    counts.units++
    const issue = () => {
      counts.issues++
    }
    const parser = adapter.parse(unit, { session: () => undefined, entry: () => undefined, issue })
    for await (const batch of resolve(adapter, unit)) {
      for (const record of batch.records) parser.push(record)
      counts.issues += batch.issues.length
    }
    parser.end(true)
  }
  adapter.models?.lastUsed?.(root)
  adapter.retention?.of(root)
  return counts
}

for (const adapter of ADAPTERS.filter((each) => fixturesOf(each).length > 0)) {
  test(
    `${adapter.id}: files that are damaged on the disk are read or named`,
    async () => {
      const fixtures = fixturesOf(adapter)
      let damaged = 0
      for (let round = 0; round < ROUNDS; round++) {
        const seed = (SEED + round) >>> 0
        const random = seededRandom(seed)
        const fixture = fixtures[below(fixtures.length, random)] as (typeof fixtures)[number]
        const root = mkdtempSync(join(tmpdir(), "pond-fuzz-"))
        const startedMs = performance.now()
        try {
          cpSync(fixture.root, root, { recursive: true })
          const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
          const entry = files[below(files.length, random)] as (typeof files)[number]
          const path = join(entry.parentPath, entry.name)
          const wound = WOUNDS[below(WOUNDS.length, random)] as Wound
          writeFileSync(path, wound(readFileSync(path), random))
          const { units, issues } = await survive(adapter, root)
          if (issues > 0) damaged++
          else if (units === 0 && !isDamagedUnseen(path)) throw new Error("nothing was read, and nothing said of it")
        } catch (cause) {
          throw new Error(`POND_SEED=${seed} POND_FUZZ_ROUNDS=1, fixture ${fixture.name}`, { cause })
        } finally {
          rmSync(root, { recursive: true, force: true })
        }
        if (performance.now() - startedMs > ROUND_MS_MAX) throw new Error(`POND_SEED=${seed}: it took too long`)
      }
      expect(damaged).toBeGreaterThan(0)
    },
    ROUNDS * 1000 + 60_000,
  )
}
