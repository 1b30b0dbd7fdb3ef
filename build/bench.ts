/**
 * `bun run bench NAME [args…]`: runs `build/bench/NAME.ts`, which exports a `bench`, and prints its rows.
 * Exits 1 when a row misses its limit. Without a name: the list. `bun run bench all` runs one after the other, each in a
 * separate process, and names those that miss a limit or cannot run; `bun run bench all sync store` those two.
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

async function runAll(names: readonly string[]): Promise<number> {
  const ended: string[] = []
  let worst = 0
  for (const name of names) {
    console.log(`\n${name}`)
    const beganMs = performance.now()
    const child = Bun.spawn([process.execPath, import.meta.path, name], { stdio: ["ignore", "inherit", "inherit"] })
    const exit = await child.exited
    worst = Math.max(worst, exit)
    const seconds = Math.round((performance.now() - beganMs) / 1000)
    ended.push(`${name.padEnd(12)} ${OUTCOMES[exit] ?? `ended with ${exit}`}, ${seconds} s`)
  }
  console.log(`\n${ended.join("\n")}`)
  return worst
}

const OUTCOMES: Readonly<Record<number, string>> = { 0: "ok", 1: "over a limit", 2: "could not run" }

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined) {
    for (const each of NAMES) console.log(`${each.padEnd(12)} ${(await load(each)).summary}`)
    return 0
  }
  const unknown = name === "all" ? args.find((each) => !NAMES.includes(each)) : undefined
  if (name === "all" && unknown === undefined) return await runAll(args.length === 0 ? NAMES : args)
  if (!NAMES.includes(name)) {
    console.error(`No bench is called ${unknown ?? name}. There are: ${NAMES.join(", ")}.`)
    return 2
  }
  const rows = await (await load(name)).run(args)
  printRows(rows)
  return rows.every(isReached) ? 0 : 1
}

process.exitCode = await orFailure("bench", () => main(Bun.argv.slice(2)))
