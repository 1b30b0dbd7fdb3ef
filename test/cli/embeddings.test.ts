import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { openEmbedder } from "../../src/embeddings/embedder.ts"
import { runPond } from "../support/warm-pond.ts"

const place = mkdtempSync(join(tmpdir(), "pond-embeddings-"))
const model = join(place, "letters")
// Of 256 random tables, this one puts the three test queries next to their passages.
writeTinyModel(model, { seed: 256 })

afterAll(() => rmSync(place, { recursive: true, force: true }))

const env = { HOME: place, XDG_CONFIG_HOME: join(place, "config"), XDG_CACHE_HOME: join(place, "cache") }

async function run(...argv: readonly string[]) {
  return await runPond([...argv], { env })
}

const config = () => readFileSync(join(place, "config/pond/config.toml"), "utf8")

test("a directory is tested, turned on, told by status, and turned off again", async () => {
  const used = await run("embeddings", "use", model, "--json")
  expect([used.exitCode, used.stderr]).toEqual([0, ""])
  expect(JSON.parse(used.stdout)).toMatchObject({ model: "letters", dimension: 16, test: { passed: 3, of: 3 } })
  expect(config()).toContain(`directory = ${JSON.stringify(model)}`)
  const status = JSON.parse((await run("embeddings", "status", "--json")).stdout)
  expect(status).toMatchObject({ on: true, model: "letters", pooling: "mean", dimension: 16, embedded: 0 })
  const off = await run("embeddings", "off")
  expect(off.stdout).toContain("Search by meaning is off.")
  expect(config()).toContain("enabled = false")
  expect(JSON.parse((await run("embeddings", "status", "--json")).stdout)).toMatchObject({ on: false, model: null })
})

test("the list names the models with their size, and what is in use", async () => {
  const { models } = JSON.parse((await run("embeddings", "list", "--json")).stdout)
  expect(models.length).toBeGreaterThan(12)
  expect(models[0]).toMatchObject({ name: "multilingual-e5-small", state: "available", dimension: 384, license: "MIT" })
})

test("a model that does not work is not turned on", async () => {
  const before = config()
  const broken = join(place, "broken")
  // The first token is the same for every text, so all passages get the same score.
  writeTinyModel(broken, { pooling: "cls" })
  const used = await run("embeddings", "use", broken)
  expect(used.exitCode).toBe(2)
  expect(used.stderr).toContain("does not work: of 3 queries, 0 found the passage")
  expect(config()).toBe(before)
})

test("a name that nobody knows is refused with the nearest one", async () => {
  const used = await run("embeddings", "use", "multilingual-e5-smal")
  expect(used.exitCode).toBe(2)
  expect(used.stderr).toContain('Unknown model "multilingual-e5-smal". Did you mean multilingual-e5-small?')
})

test("a server embeds instead of this machine where it is named, and status names it", async () => {
  const embedder = await openEmbedder("letters", model)
  await using server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const { input } = (await request.json()) as { input: string[] }
      const vectors = await embedder.passages(input)
      return Response.json({ data: vectors.map(([vector], index) => ({ index, embedding: [...(vector ?? [])] })) })
    },
  })
  const endpoint = `http://localhost:${server.port}/v1`
  const used = await run("embeddings", "use", "letters-server", "--endpoint", endpoint, "--json")
  expect([used.exitCode, used.stderr]).toEqual([0, ""])
  expect(config()).toContain("dimension = 16")
  const status = await run("embeddings", "status")
  expect(status.stdout).toContain(`localhost:${server.port} (it receives every stored text and every query)`)
  await embedder.close()
})
