/**
 * `bun run test:binary`: builds `dist/pond` where it is missing or older than what it is made of, and runs the tests over
 * the built file. They are kept out of the ordinary `bun test` (bunfig.toml), which must not wait for a build.
 */
import { join } from "node:path"
import { isStale } from "./lib/freshness.ts"
import { ROOT } from "./release/packages.ts"

async function run(...command: readonly string[]): Promise<number> {
  return await Bun.spawn([process.execPath, ...command], { cwd: ROOT, stdio: ["inherit", "inherit", "inherit"] }).exited
}

const buildCode = isStale(join(ROOT, "dist/pond")) ? await run("build/binary.ts") : 0
// A pattern given here replaces the one of the config, which would hide these tests.
const tests = ["test", "--path-ignore-patterns=node_modules", "--timeout", "120000", "test/binary"]
process.exitCode = buildCode === 0 ? await run(...tests, ...Bun.argv.slice(2)) : buildCode
