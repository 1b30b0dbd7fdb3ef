/** Removing pond: what init made and the cache go, the store stays unless it is asked for; and the manual page. */
import { expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { writeSampleSession } from "../../build/corpus/sample-session.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

test("the setup goes, and the store goes only with --delete-store", async () => {
  using home = temporaryHome()
  writeSampleSession(home.path)
  expect(await runPond(["init", "--yes", "--no-schedule"], home)).toMatchObject({ exitCode: 0 })
  const config = join(home.path, ".config/pond/config.toml")
  const store = join(home.path, ".local/share/pond/store")
  const dry = await runPond(["uninstall"], home)
  expect(dry.stdout).toContain("No changes made.")
  expect([existsSync(config), existsSync(store)]).toEqual([true, true])
  const { stdout } = await runPond(["uninstall", "--yes"], home)
  expect(stdout).toContain("Removed pond from 1 client")
  expect([existsSync(config), existsSync(store)]).toEqual([false, true])
  await runPond(["uninstall", "--yes", "--delete-store"], home)
  expect(existsSync(store)).toBe(false)
}, 60_000)

test("the manual page has every verb, and no line that roff would read as a request of its own", async () => {
  const { stdout } = await runPond(["man"])
  for (const verb of ["sync", "search", "adapters list", "uninstall"]) expect(stdout).toContain(`.SS "pond ${verb}`)
  const requests = new Set([...stdout.matchAll(/^\.(\S+)/gm)].map(([, name]) => name))
  expect([...requests].sort((left = "", right = "") => (left < right ? -1 : 1))).toEqual([
    "B",
    "I",
    "PP",
    "SH",
    "SS",
    "TH",
    "TP",
    "fi",
    "nf",
  ])
})
