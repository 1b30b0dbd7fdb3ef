/**
 * `bun run test:binary`: builds `dist/pond` where it is missing or older than what it is made of, and runs the tests over
 * the built file. They are kept out of the ordinary `bun test` (bunfig.toml), which must not wait for a build.
 */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { ROOT } from "./packages.ts"

const MADE_OF = ["src", "build", "package.json", "bun.lock"]

function newestMs(path: string): number {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))))
}

async function run(...command: readonly string[]): Promise<number> {
  return await Bun.spawn([process.execPath, ...command], { cwd: ROOT, stdio: ["inherit", "inherit", "inherit"] }).exited
}

const built = statSync(join(ROOT, "dist/pond"), { throwIfNoEntry: false })
const isStale = built === undefined || MADE_OF.some((name) => newestMs(join(ROOT, name)) > built.mtimeMs)
const buildCode = isStale ? await run("build/binary.ts") : 0
// The empty pattern of the config is replaced here: without it the tests would be ignored by name.
const tests = ["test", "--path-ignore-patterns=node_modules", "--timeout", "120000", "test/binary"]
process.exitCode = buildCode === 0 ? await run(...tests, ...Bun.argv.slice(2)) : buildCode
