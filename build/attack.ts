/**
 * `bun run attack NAME [args…]`: runs `build/attack/NAME.ts`, which does to pond what somebody hostile would, and says what
 * came through. Exits 1 where something did. Without a name, or with --help: the list.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { type Chaos, printOutcome } from "./lib/outcome.ts"

const FOLDER = join(import.meta.dir, "attack")
const NAMES = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length))
  .sort()

async function load(name: string): Promise<Chaos> {
  const { attack } = (await import(join(FOLDER, `${name}.ts`))) as { attack: Chaos }
  return attack
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === "--help") {
    for (const each of NAMES) console.log(`${each.padEnd(12)} ${(await load(each)).summary}`)
    return 0
  }
  if (!NAMES.includes(name)) {
    console.error(`No attack is called ${name}. There are: ${NAMES.join(", ")}.`)
    return 2
  }
  const rights: boolean[] = []
  for await (const outcome of (await load(name)).run(args)) {
    printOutcome(outcome)
    rights.push(outcome.isRight)
  }
  console.log(`${rights.filter(Boolean).length} of ${rights.length} held`)
  return rights.length > 0 && rights.every(Boolean) ? 0 : 1
}

process.exitCode = await main(Bun.argv.slice(2))
