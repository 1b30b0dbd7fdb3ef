import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { packageAt, packageFor } from "../../build/release/packages.ts"
import { BuildFailure, targetNamed } from "../../build/release/targets.ts"

const asked: string[] = []
/** A registry that has nothing, and a home whose settings name it. */
const registry = Bun.serve({
  port: 0,
  fetch: ({ url }) => {
    asked.push(decodeURIComponent(new URL(url).pathname))
    return new Response("{}", { status: 404 })
  },
})
const home = mkdtempSync(join(tmpdir(), "pond-packages-"))
writeFileSync(join(home, ".npmrc"), `registry=${registry.url.href}\n`)
afterAll(async () => {
  await registry.stop(true)
  rmSync(home, { recursive: true, force: true })
})

test("a package that the registry does not give fails the build by target, name and version", async () => {
  // A test run that npx started carries npx's own registry in a variable, which wins over the settings of a home.
  const before = { HOME: process.env["HOME"], npm_config_registry: process.env["npm_config_registry"] }
  Object.assign(process.env, { HOME: home, npm_config_registry: registry.url.href })
  try {
    const failure = await packageAt(targetNamed("linux-arm64"), "@pond-tests/absent", "9.9.9").catch((error) => error)
    expect(failure).toBeInstanceOf(BuildFailure)
    expect(failure.message).toStartWith("linux-arm64 needs @pond-tests/absent 9.9.9, which the registry does not give")
    expect(failure.message).toContain("404")
    expect(asked).toEqual(["/@pond-tests/absent"])
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
})

test("a package that its parent never had fails the build by its name", async () => {
  const wanted = packageFor(targetNamed("linux-x64"), "@lancedb/lancedb", "@lancedb/lancedb-plan9")
  expect(await wanted.catch((error) => error.message)).toBe(
    "linux-x64 needs @lancedb/lancedb-plan9, which @lancedb/lancedb does not ship.",
  )
})

test("a package of this machine is the installed one", async () => {
  const found = await packageAt(targetNamed("linux-x64"), "typescript", "7.0.2")
  expect(found.directory).toEndWith("/node_modules/typescript")
})
