/**
 * `bun run bench NAME [args…]`: runs `build/bench/NAME.ts`, which exports a `bench`, and prints its rows.
 * Exits 1 when a row misses its limit. Without a name: the list.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { type Bench, isReached, printRows } from "./lib/measure.ts"
import { orFailure } from "./release/targets.ts"

const FOLDER = join(import.meta.dir, "bench")
const NAMES = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length))
  .sort()

async function load(name: string): Promise<Bench> {
  const { bench } = (await import(join(FOLDER, `${name}.ts`))) as { bench: Bench }
  return bench
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined) {
    for (const each of NAMES) console.log(`${each.padEnd(12)} ${(await load(each)).summary}`)
    return 0
  }
  if (!NAMES.includes(name)) {
    console.error(`No bench is called ${name}. There are: ${NAMES.join(", ")}.`)
    return 2
  }
  const rows = await (await load(name)).run(args)
  printRows(rows)
  return rows.every(isReached) ? 0 : 1
}

process.exitCode = await orFailure("bench", () => main(Bun.argv.slice(2)))
