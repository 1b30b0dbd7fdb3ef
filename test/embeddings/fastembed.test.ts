/** What pond takes from fastembed, and why it takes no more: each test here fails once fastembed does it as pond needs it. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { type LoadedModel, loadModel } from "../../src/embeddings/load-model.ts"
import { embeddingRuntime } from "../../src/embeddings/runtime.ts"

const place = mkdtempSync(join(tmpdir(), "pond-fastembed-"))
const model = join(place, "tiny")
let loaded: LoadedModel

beforeAll(async () => {
  writeTinyModel(model)
  loaded = await loadModel(model, "model.onnx")
})

afterAll(async () => {
  await loaded.session.release()
  rmSync(place, { recursive: true, force: true })
})

async function byFastembed() {
  const { EmbeddingModel, FlagEmbedding } = embeddingRuntime().fastembed
  return await FlagEmbedding.init({
    model: EmbeddingModel.CUSTOM,
    modelAbsoluteDirPath: model,
    modelName: "model.onnx",
    showDownloadProgress: false,
  })
}

test("the tokenizer of a loaded model neither pads nor cuts", async () => {
  const short = await loaded.tokenizer.encode("hi")
  expect(short.getIds()).toHaveLength(4)
  const long = await loaded.tokenizer.encode("hi ".repeat(1_000))
  expect(long.getIds().length).toBeGreaterThan(1_000)
})

test("fastembed pads every text to the longest input of the model", async () => {
  const made = (await byFastembed()) as unknown as LoadedModel
  expect((await made.tokenizer.encode("hi")).getIds()).toHaveLength(512)
  await made.session.release()
})

test("fastembed takes the first token for the text, so texts of a model that pools by the mean are all the same", async () => {
  const made = await byFastembed()
  const batches = await Array.fromAsync(made.embed(["some words", "quite other ones"]))
  const [one = [], other = []] = batches.flat()
  expect(one).toEqual(other)
})

test("a model directory without the small files is loaded all the same, and nothing is written into it", async () => {
  const bare = join(place, "bare")
  writeTinyModel(bare)
  for (const name of ["config.json", "tokenizer_config.json", "special_tokens_map.json"])
    renameSync(join(bare, name), join(place, name))
  const { tokenizer, session } = await loadModel(bare, "model.onnx")
  expect((await tokenizer.encode("hi")).getIds()).toEqual((await loaded.tokenizer.encode("hi")).getIds())
  await session.release()
  expect(readdirSync(bare).toSorted()).toEqual(["1_Pooling", "model.onnx", "tokenizer.json"])
})

test.skipIf(process.platform !== "linux" || availableParallelism() < 2)(
  "a session made by fastembed takes no more threads than half of the machine",
  async () => {
    const threads = () => readdirSync("/proc/self/task").length
    const before = threads()
    const made = (await byFastembed()) as unknown as LoadedModel
    // The thread that calls is one of them.
    expect(threads() - before).toBeLessThan(Math.max(1, Math.floor(availableParallelism() / 2)))
    await made.session.release()
  },
)
