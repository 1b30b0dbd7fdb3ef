/**
 * `bun run test:azure`: the laws of every backend, its notes, and `pond storage check`, against Azurite on this machine.
 * Other real stores are named the same way: `POND_TEST_STORES` holds their URLs, the environment their credentials.
 */
import { join } from "node:path"
import { startAzurite, TEST_CONTAINER } from "./lib/azurite.ts"
import { ROOT } from "./release/packages.ts"

await using azurite = await startAzurite()
const url = `az://${TEST_CONTAINER}/laws`
const env = { ...process.env, ...azurite.environment, POND_TEST_STORES: url }
console.log(`Azurite listens on ${azurite.url}`)

async function run(...args: readonly string[]): Promise<boolean> {
  const child = Bun.spawn([process.execPath, ...args], { cwd: ROOT, env, stdout: "inherit", stderr: "inherit" })
  return (await child.exited) === 0
}

const isChecked = await run(join(ROOT, "src/main.ts"), "storage", "check", `az://${TEST_CONTAINER}/check`)
const tests = ["test/substrate/backends.test.ts", "test/substrate/bucket-clients.test.ts"]
const isLawful = await run("test", "--timeout", "60000", ...tests, "-t", "az://")
process.exitCode = isChecked && isLawful ? 0 : 1
