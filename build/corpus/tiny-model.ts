/**
 * Embedding models too small to mean anything, and real in every other way: an ONNX file, a tokenizer, the settings
 * that go with them. `bun build/corpus/tiny-model.ts` prints the one that `src/embeddings/self-test.ts` carries in itself;
 * `bun build/corpus/tiny-model.ts DIRECTORY` writes one that takes any text, laid out as downloaded models are.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { seededRandom } from "../../src/platform/host/random.ts"
import { embeddingTableModel, type Matrix } from "./onnx.ts"

const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
const DIMENSION = 16
const TOKENS_MAX = 512

/** Three tokens of two numbers each. */
export function selfTestModel(): Uint8Array {
  return embeddingTableModel({ rows: 3, columns: 2, values: Float32Array.of(0, 1, 2, 3, 4, 5) })
}

export interface TinyModel {
  readonly pooling?: "mean" | "cls"
  readonly seed?: number
  /** Of its vectors. */
  readonly dimension?: number
}

export function writeTinyModel(
  directory: string,
  { pooling = "mean", seed = 1, dimension = DIMENSION }: TinyModel = {},
): void {
  mkdirSync(join(directory, "1_Pooling"), { recursive: true })
  const pieces = vocabulary()
  const write = (name: string, content: unknown) => writeFileSync(join(directory, name), JSON.stringify(content))
  writeFileSync(join(directory, "model.onnx"), embeddingTableModel(randomTable(pieces.length, dimension, seed)))
  write("tokenizer.json", tokenizer(pieces))
  write("config.json", { pad_token_id: 0, vocab_size: pieces.length, hidden_size: dimension })
  write("tokenizer_config.json", { model_max_length: TOKENS_MAX, pad_token: "[PAD]" })
  write("1_Pooling/config.json", {
    word_embedding_dimension: dimension,
    pooling_mode_mean_tokens: pooling === "mean",
    pooling_mode_cls_token: pooling === "cls",
  })
  write("special_tokens_map.json", { pad_token: "[PAD]", unk_token: "[UNK]", cls_token: "[CLS]", sep_token: "[SEP]" })
}

/** Every letter and figure, at the start of a word and inside it: any text of them has its own sequence of pieces. */
function vocabulary(): string[] {
  const characters = [..."abcdefghijklmnopqrstuvwxyz0123456789.,:;/-_()='\"!?"]
  return [...SPECIAL, ...characters, ...characters.map((character) => `##${character}`)]
}

function randomTable(rows: number, columns: number, seed: number): Matrix {
  const random = seededRandom(seed)
  const values = Float32Array.from({ length: rows * columns }, () => random.next() - 0.5)
  return { rows, columns, values }
}

function tokenizer(pieces: readonly string[]): unknown {
  const special = (name: string) => ({ SpecialToken: { id: name, type_id: 0 } })
  const sequence = (id: string, type_id: number) => ({ Sequence: { id, type_id } })
  const idsOf = (name: string) => ({ id: name, ids: [pieces.indexOf(name)], tokens: [name] })
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single: [special("[CLS]"), sequence("A", 0), special("[SEP]")],
      pair: [special("[CLS]"), sequence("A", 0), special("[SEP]"), sequence("B", 1), special("[SEP]")],
      special_tokens: { "[CLS]": idsOf("[CLS]"), "[SEP]": idsOf("[SEP]") },
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
    },
  }
}

if (import.meta.main) {
  const [directory] = Bun.argv.slice(2)
  if (directory === undefined) console.log(Buffer.from(selfTestModel()).toString("base64"))
  else writeTinyModel(directory)
}
