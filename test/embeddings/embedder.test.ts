import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { type Embedder, openEmbedder } from "../../src/embeddings/embedder.ts"
import { unpackArchive } from "../../src/embeddings/model-archive.ts"

const place = mkdtempSync(join(tmpdir(), "pond-embedder-"))
const model = join(place, "tiny")
let embedder: Embedder

beforeAll(async () => {
  writeTinyModel(model)
  embedder = await openEmbedder("tiny", model)
})

afterAll(async () => {
  await embedder.close()
  rmSync(place, { recursive: true, force: true })
})

function cosine(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0)
}

test("a vector has the model's dimension and length one", async () => {
  expect(embedder.dimension).toBe(16)
  for (const text of ["migration of the database", "", "数据库 \ud83d", "x"]) {
    const vector = await embedder.query(text)
    expect(vector).toHaveLength(16)
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
  }
})

test.each(["onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"])(
  "a model is found as %s",
  async (file) => {
    const directory = join(place, file.replace("/", "-"))
    writeTinyModel(directory)
    mkdirSync(join(directory, "onnx"))
    renameSync(join(directory, "model.onnx"), join(directory, file))
    const found = await openEmbedder("tiny", directory)
    expect(found.dimension).toBe(16)
    await found.close()
  },
)

test("a question and a passage are read with the prefix of each", async () => {
  const prefixed = await openEmbedder("tiny", model, { query_prefix: "ask: ", passage_prefix: "text: " })
  const [[passage]] = (await prefixed.passages(["why"])) as [[Float32Array]]
  const question = await prefixed.query("why")
  await prefixed.close()
  expect(cosine(question, await embedder.query("ask: why"))).toBeCloseTo(1, 5)
  expect(cosine(passage, await embedder.query("text: why"))).toBeCloseTo(1, 5)
  expect(cosine(question, await embedder.query("why"))).toBeLessThan(0.999)
  expect(cosine(question, passage)).toBeLessThan(0.999)
})

test("texts of different lengths get in one batch the vectors that they get alone", async () => {
  const texts = ["a", "the quick brown fox", "b b b b", "z".repeat(90), "why?", "the quick brown fox"]
  const together = await embedder.passages(texts)
  for (const [at, text] of texts.entries()) {
    const [[alone]] = (await embedder.passages([text])) as [[Float32Array]]
    expect(cosine(alone, together[at]?.[0] ?? new Float32Array())).toBeCloseTo(1, 5)
  }
})

test("a text of a few letters is not padded to the model's full length", async () => {
  // Padding counts into a mean unless it is masked: with it, two short texts would be nearly the same.
  const [[a], [b]] = (await embedder.passages(["aaaa", "qqqq"])) as [[Float32Array], [Float32Array]]
  expect(cosine(a, b)).toBeLessThan(0.95)
})

test("a text longer than the model reads is read in windows, and each says its own part", async () => {
  const long = `${"aaaa ".repeat(400)}${"qqqq ".repeat(400)}`
  const [windows = []] = await embedder.passages([long])
  expect(windows.length).toBeGreaterThan(2)
  expect(windows.length).toBeLessThanOrEqual(8)
  const [[a], [q]] = (await embedder.passages(["aaaa ".repeat(80), "qqqq ".repeat(80)])) as [
    [Float32Array],
    [Float32Array],
  ]
  const [first, last] = [windows[0] ?? a, windows.at(-1) ?? a]
  expect(cosine(first, a)).toBeGreaterThan(cosine(first, q))
  expect(cosine(last, q)).toBeGreaterThan(cosine(last, a))
})

test("a text of megabytes is read as far as its windows reach", async () => {
  const [windows = []] = await embedder.passages(["lorem ipsum dolor ".repeat(200_000)])
  expect(windows).toHaveLength(8)
})

test("pooling by the first token and by the mean of all differ, and the model's own file decides", async () => {
  const other = join(place, "cls")
  writeTinyModel(other)
  writeFileSync(
    join(other, "1_Pooling/config.json"),
    '{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}',
  )
  const cls = await openEmbedder("tiny-cls", other)
  const [one, two] = [await cls.query("some words"), await cls.query("quite other ones")]
  // The first token is the same special one, and the tiny model knows no attention.
  expect(cosine(one, two)).toBeCloseTo(1, 5)
  expect(cosine(await embedder.query("some words"), await embedder.query("quite other ones"))).toBeLessThan(0.999)
  await cls.close()
})

test.each<[string, (directory: string) => void, string]>([
  ["an empty directory", () => undefined, "no model.onnx"],
  ["a model without its tokenizer", (at) => writeFileSync(join(at, "model.onnx"), "x"), "no tokenizer.json"],
  [
    "files that are none",
    (at) => {
      writeFileSync(join(at, "model.onnx"), "x")
      writeFileSync(join(at, "tokenizer.json"), "{")
    },
    "cannot be loaded",
  ],
])("%s is refused in words", async (name, fill, why) => {
  const directory = join(place, name.replaceAll(" ", "-"))
  mkdirSync(directory)
  fill(directory)
  expect(openEmbedder("x", directory, { pooling: "mean" })).rejects.toMatchObject({
    code: "validation_failed",
    message: expect.stringContaining(why),
  })
})

// --- From a URL -------------------------------------------------------------------------------------------------------

function archive(): { readonly bytes: Uint8Array<ArrayBuffer>; readonly sha256: string } {
  const made = Bun.spawnSync(["tar", "-czf", "-", "-C", place, "tiny"])
  const bytes = new Uint8Array(made.stdout)
  return { bytes, sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex") }
}

function served(bytes: Uint8Array<ArrayBuffer>, status = 200) {
  let asked = 0
  const server = Bun.serve({
    port: 0,
    fetch: () => {
      asked += 1
      return new Response(bytes, { status })
    },
  })
  const { signal } = new AbortController()
  const context = { cacheDirectory: mkdtempSync(join(place, "cache-")), signal }
  return { url: `${server.url}m.tar.gz`, context, asked: () => asked, [Symbol.asyncDispose]: () => server.stop(true) }
}

test("a model behind a URL is fetched once, checked, and opened from the cache", async () => {
  const { bytes, sha256 } = archive()
  await using server = served(bytes)
  const settings = { url: server.url, sha256: sha256.toUpperCase() }
  const seen: number[] = []
  const directory = await unpackArchive(settings, { ...server.context, onBytes: (received) => seen.push(received) })
  expect(readFileSync(join(directory, "tokenizer.json"))).toEqual(readFileSync(join(model, "tokenizer.json")))
  expect(seen.at(-1)).toBe(bytes.length)
  expect(await unpackArchive(settings, server.context)).toBe(directory)
  expect(server.asked()).toBe(1)
  const fetched = await openEmbedder("tiny", directory)
  expect(cosine(await fetched.query("hello"), await embedder.query("hello"))).toBeCloseTo(1, 5)
  await fetched.close()
})

test.each<[string, (sha256: string) => string | undefined, number, string]>([
  ["without a checksum", () => undefined, 200, "sha256"],
  [
    "with another checksum",
    (sha256) => sha256.replace(/^./, (digit) => (digit === "0" ? "1" : "0")),
    200,
    "does not match",
  ],
  ["that is not there", (sha256) => sha256, 404, "404"],
])("a URL %s is refused, and leaves nothing behind", async (_, given, status, why) => {
  const { bytes, sha256 } = archive()
  await using server = served(bytes, status)
  const settings = { url: server.url, sha256: given(sha256) }
  const asked = unpackArchive(settings, server.context)
  expect(asked).rejects.toMatchObject({ message: expect.stringContaining(why) })
  await asked.catch(() => undefined)
  expect([...new Bun.Glob("**/*").scanSync(server.context.cacheDirectory)]).toEqual([])
})

test("an archive that is none is refused, and leaves nothing behind", async () => {
  const bytes = new TextEncoder().encode("no archive at all ".repeat(100))
  await using server = served(bytes)
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
  const asked = unpackArchive({ url: server.url, sha256 }, server.context)
  expect(asked).rejects.toMatchObject({ code: "validation_failed", message: expect.stringContaining("tar") })
  await asked.catch(() => undefined)
  expect([...new Bun.Glob("**/*").scanSync(server.context.cacheDirectory)]).toEqual([])
})
