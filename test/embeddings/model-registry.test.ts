import { afterAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { openEmbedder } from "../../src/embeddings/embedder.ts"
import { KNOWN_MODELS, type Pooling } from "../../src/embeddings/known-models.ts"
import { factsOfModel, knownModel } from "../../src/embeddings/model-registry.ts"
import { embeddingRuntime } from "../../src/embeddings/runtime.ts"

const place = mkdtempSync(join(tmpdir(), "pond-registry-"))

afterAll(() => rmSync(place, { recursive: true, force: true }))

function directoryWith(files: Readonly<Record<string, unknown>>): string {
  const directory = mkdtempSync(join(place, "model-"))
  mkdirSync(join(directory, "1_Pooling"))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), JSON.stringify(content))
  return directory
}

test("a model is known by its name and its aliases, whatever their case", () => {
  expect(knownModel("QWEN3")?.name).toBe("Qwen3-Embedding-0.6B")
  expect(knownModel("BAAI/bge-m3")).toMatchObject({ pooling: "cls", dimension: 1024 })
  expect(knownModel("constructor")).toBeUndefined()
  const names = KNOWN_MODELS.flatMap(({ name, aliases }) => [name, ...aliases]).map((each) => each.toLowerCase())
  expect(new Set(names).size).toBe(names.length)
})

test.each<[string, Pooling, query: string, passage: string, dimension: number, isMultilingual: boolean]>([
  ["multilingual-e5-small", "mean", "query: ", "passage: ", 384, true],
  ["multilingual-e5-base", "mean", "query: ", "passage: ", 768, true],
  ["all-MiniLM-L6-v2", "mean", "", "", 384, false],
  ["bge-small-en-v1.5", "cls", "Represent this sentence for searching relevant passages: ", "", 384, false],
  ["bge-m3", "cls", "", "", 1024, true],
  ["gte-multilingual", "cls", "", "", 768, true],
  ["nomic", "mean", "search_query: ", "search_document: ", 768, false],
  ["jina-code", "mean", "", "", 768, false],
  [
    "Qwen3-Embedding-0.6B",
    "last",
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
    "",
    1024,
    true,
  ],
])(
  "%s is asked as its card says, and can be downloaded",
  (name, pooling, queryPrefix, passagePrefix, dimension, many) => {
    const model = knownModel(name)
    expect(model).toMatchObject({ pooling, queryPrefix, passagePrefix, dimension })
    expect(model?.isMultilingual === true).toBe(many)
    expect(model?.source).toBeDefined()
  },
)

test("every file of a known model has a checksum, and its directory gets the two names that are loaded", () => {
  for (const { source } of KNOWN_MODELS) {
    if (source?.kind !== "files") continue
    expect(source.files.map(({ to }) => to)).toEqual(["model.onnx", "tokenizer.json"])
    for (const { sha256 } of source.files) expect(sha256).toMatch(/^[0-9a-f]{64}$/)
  }
})

test("every model of fastembed's list is known, with its dimension", () => {
  const { FlagEmbedding } = embeddingRuntime().fastembed
  const listed = FlagEmbedding.prototype.listSupportedModels()
  expect(listed.length).toBeGreaterThan(5)
  for (const { model, dim } of listed) expect([model, knownModel(model)?.dimension]).toEqual([model, dim])
})

test("a model's own files say how it is asked", () => {
  const directory = directoryWith({
    "1_Pooling/config.json": { pooling_mode_lasttoken: true, pooling_mode_mean_tokens: false },
    "config_sentence_transformers.json": { prompts: { query: "ask: ", document: "text: " } },
    "tokenizer_config.json": { model_max_length: 256 },
    "config.json": { hidden_size: 64 },
  })
  expect(factsOfModel("mine", directory, {})).toEqual({
    pooling: "last",
    queryPrefix: "ask: ",
    passagePrefix: "text: ",
    tokensMax: 256,
    dimension: 64,
    isCut: false,
  })
  const settings = { pooling: "cls", query_prefix: "", max_tokens: 32 } as const
  expect(factsOfModel("mine", directory, settings)).toMatchObject({ pooling: "cls", queryPrefix: "", tokensMax: 32 })
})

test("no window is longer than memory allows, whatever the model could read", () => {
  expect(factsOfModel("bge-m3", directoryWith({}), {}).tokensMax).toBe(512)
  expect(factsOfModel("bge-m3", directoryWith({}), { max_tokens: 4096 }).tokensMax).toBe(4096)
})

test.each<[string, string, Record<string, unknown>, object, string]>([
  ["a pooling that nothing says", "mine", {}, {}, "Set embeddings.pooling"],
  [
    "files of another model than its name",
    "bge-small-en-v1.5",
    { "1_Pooling/config.json": { pooling_mode_mean_tokens: true } },
    {},
    'say pooling "mean", but bge-small-en-v1.5 has "cls"',
  ],
  ["another dimension than its name", "all-MiniLM-L6-v2", { "config.json": { hidden_size: 768 } }, {}, "dimension 768"],
  [
    "another prompt than its name",
    "multilingual-e5-small",
    { "config_sentence_transformers.json": { prompts: { query: "ask: " } } },
    {},
    "embeddings.query_prefix",
  ],
  ["vectors that it was not trained for", "all-MiniLM-L6-v2", {}, { dimension: 128 }, "but of 384"],
])("%s is refused, and the message names the setting", (_, name, files, settings, why) => {
  expect(() => factsOfModel(name, directoryWith(files), settings)).toThrow(why)
})

test("vectors are cut to a dimension that the model was trained for, and have length one again", () => {
  expect(factsOfModel("qwen3", directoryWith({}), { dimension: 256 })).toMatchObject({ dimension: 256, isCut: true })
})

test("a directory whose vectors are not those of its name is refused when it is opened", async () => {
  const directory = join(place, "tiny")
  writeTinyModel(directory)
  rmSync(join(directory, "config.json"))
  rmSync(join(directory, "1_Pooling"), { recursive: true })
  expect(openEmbedder("all-MiniLM-L6-v2", directory)).rejects.toMatchObject({
    code: "validation_failed",
    message: expect.stringContaining("have 16 numbers, where those of all-MiniLM-L6-v2 have 384"),
  })
})

test("pooling by the last token takes the last one that is no padding", async () => {
  const directory = join(place, "last")
  writeTinyModel(directory)
  const last = await openEmbedder("tiny", directory, { pooling: "last" })
  // The last token is the same special one for every text, and the tiny model knows no attention.
  const [[short], [long]] = (await last.passages(["a", "quite other words"])) as [[Float32Array], [Float32Array]]
  expect([...long]).toEqual([...short])
  await last.close()
})
