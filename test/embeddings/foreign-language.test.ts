import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeTinyModel } from "../../build/corpus/tiny-model.ts"
import { openEmbedder } from "../../src/embeddings/embedder.ts"
import { isForeign } from "../../src/embeddings/foreign-language.ts"
import { embeddingRuntime } from "../../src/embeddings/runtime.ts"

const place = mkdtempSync(join(tmpdir(), "pond-foreign-"))
afterAll(() => rmSync(place, { recursive: true, force: true }))

/** Knows a few English words whole, and every letter. */
function englishTokenizer() {
  const words = ["why", "did", "the", "tests", "fail", "on", "a", "friday", "connect"]
  const letters = [..."abcdefghijklmnopqrstuvwxyz"]
  const pieces = [...new Set(["[UNK]", ...words, ...letters, ...letters.map((each) => `##${each}`), "##ion"])]
  return embeddingRuntime().tokenizers.Tokenizer.fromString(
    JSON.stringify({
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: [],
      normalizer: { type: "Lowercase" },
      pre_tokenizer: { type: "BertPreTokenizer" },
      post_processor: null,
      decoder: null,
      model: {
        type: "WordPiece",
        unk_token: "[UNK]",
        continuing_subword_prefix: "##",
        max_input_chars_per_word: 100,
        vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      },
    }),
  )
}

test.each([
  ["why did the tests fail on Friday?", false],
  ["why did the connection fail", false],
  ["warum sind die Tests am Freitag gescheitert", true],
  ["测试为什么失败", true],
  ["why did 测试 fail", true],
  // Signs and pictures are no words of another language.
  ["why 🙈 did … the tests fail — on friday 🙈", false],
  ["?!", false],
  ["", false],
])("%j", async (text, want) => {
  expect(await isForeign(englishTokenizer(), text)).toBe(want)
})

test("only of a model for some languages, which the registry knows, a text is foreign", async () => {
  writeTinyModel(place, { dimension: 384 })
  const answers: Record<string, boolean | undefined> = {}
  for (const name of ["all-MiniLM-L6-v2", "multilingual-e5-small", "a-model-of-somebody"]) {
    const embedder = await openEmbedder(name, place)
    answers[name] = await embedder.isForeign("every letter is a piece")
    await embedder.close()
  }
  expect(answers).toEqual({
    "all-MiniLM-L6-v2": true,
    "multilingual-e5-small": undefined,
    "a-model-of-somebody": undefined,
  })
})
