/** `pond config`, as a process: every setting, and who set it. */
import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

test("each setting stands with its value and its origin, a secret as no more than set", async () => {
  using home = temporaryHome()
  const file = join(home.path, ".config/pond/config.toml")
  writeFileSync(
    file,
    '# mine\n[adapters]\ndisabled = ["pi"]\n\n[storage."s3://bucket"]\nsecret_access_key = "hunter2"\n',
  )
  const env = { ...home.env, POND_NAMESPACE: "team" }
  const [words, json] = await Promise.all([
    runPond(["config", "--store", "/somewhere"], { env }),
    runPond(["config", "--json"], { env }),
  ])
  const lines = words.stdout.split("\n").map((line) => line.split(/ {2,}/))
  expect(lines).toContainEqual(["store", "/somewhere", "--store"])
  expect(lines).toContainEqual(["namespace", "team", "POND_NAMESPACE"])
  expect(lines).toContainEqual(["adapters.disabled", '["pi"]', `${file}:3`])
  expect(lines).toContainEqual(["embeddings.directory", "(not set)", "default"])
  expect(lines).toContainEqual(["storage", "(set)", `${file}:5`])
  expect(`${words.stdout}${json.stdout}`).not.toContain("hunter2")
  const { settings } = JSON.parse(json.stdout)
  expect(settings).toContainEqual(expect.objectContaining({ key: "embeddings.directory", value: null }))
  expect(settings).toContainEqual(expect.objectContaining({ key: "adapters.disabled", value: ["pi"] }))
})
