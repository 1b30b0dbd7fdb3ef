/** `pond storage check`, from the real process: a store that works, one that does not, and one with credentials of its own. */
import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { startObjectServer, TEST_KEY } from "../support/object-server.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const STEPS = ["reach", "write", "conditional write", "read", "list", "delete"]

interface Checked {
  readonly url: string
  readonly ok: boolean
  readonly steps: readonly { readonly step: string; readonly ok: boolean; readonly error?: { readonly code: string } }[]
}

test("the store that is configured is checked where no URL is given", async () => {
  using home = temporaryHome()
  const place = join(home.path, "elsewhere")
  const [words, json] = await Promise.all([
    runPond(["storage", "check", "--store", place], { env: home.env }),
    runPond(["storage", "check", place, "--json"], { env: home.env }),
  ])
  expect({ exitCode: words.exitCode, stderr: words.stderr }).toEqual({ exitCode: 0, stderr: "" })
  expect(words.stdout.split("\n").map((line) => line.split(":")[0]?.trim())).toEqual([
    ...STEPS.map((step) => `ok      ${step}`),
    `${place} passed the check; several machines can write to it at once.`,
    "",
  ])
  const checked = JSON.parse(json.stdout) as Checked
  expect({ url: checked.url, ok: checked.ok, exitCode: json.exitCode }).toEqual({ url: place, ok: true, exitCode: 0 })
  expect(checked.steps.map(({ step, ok }) => [step, ok])).toEqual(STEPS.map((step) => [step, true]))
}, 60_000)

test("a place that cannot be there fails at the first step, says why once, and is exit 4", async () => {
  using home = temporaryHome()
  const file = join(home.path, "file")
  writeFileSync(file, "")
  const { exitCode, stdout } = await runPond(["storage", "check", join(file, "store"), "--json"], { env: home.env })
  const { ok, steps } = JSON.parse(stdout) as Checked
  expect({ exitCode, ok }).toEqual({ exitCode: 4, ok: false })
  expect(steps.filter((step) => !step.ok)).toMatchObject([{ step: "reach", error: { code: "storage_unavailable" } }])
}, 60_000)

test("credentials of a storage URL come from the configuration, and are not shown by it", async () => {
  await using server = await startObjectServer()
  using home = temporaryHome()
  const url = `${server.url.replace("http:", "s3+http:")}/pond-test`
  mkdirSync(join(home.path, ".config/pond"), { recursive: true })
  writeFileSync(
    join(home.path, ".config/pond/config.toml"),
    `[storage."${url}"]\naccess_key_id = "${TEST_KEY.accessKeyId}"\nsecret_access_key = "${TEST_KEY.secretAccessKey}"\n`,
  )
  const [inside, config] = await Promise.all([
    runPond(["storage", "check", `${url}/some/prefix`, "--json"], { env: home.env }),
    runPond(["config"], { env: home.env }),
  ])
  expect(JSON.parse(inside.stdout)).toMatchObject({ url: `${url}/some/prefix`, ok: true })
  expect(server.space.keys("pond-test")).toEqual([])
  expect(config.stdout).toContain("(set)")
  for (const { stdout, stderr } of [inside, config]) expect(stdout + stderr).not.toContain(TEST_KEY.secretAccessKey)
}, 60_000)
