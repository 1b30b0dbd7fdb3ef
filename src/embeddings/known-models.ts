/**
 * The embedding models that pond knows by name, as data: where their files are, and how they are asked. Facts are those
 * of the models' cards. A model that is not here works from a directory, where its own files or the settings say as much.
 *
 * Every file has the SHA-256 that public pins of the same revision agree on. Nobody publishes them for the archives of
 * fastembed: what arrives first is trusted and recorded, and a later download must be equal (`model-checksums.ts`).
 */
export type Pooling = "mean" | "cls" | "last"

export interface ModelFacts {
  readonly pooling: Pooling
  readonly queryPrefix: string
  readonly passagePrefix: string
  /** Input length in tokens, special tokens included. */
  readonly tokensMax: number
}

export interface ModelFile {
  /** In the repository. */
  readonly from: string
  /** In the directory of the model. */
  readonly to: string
  readonly sha256: string
}

export type ModelSource =
  /** Files of one revision of a repository of Hugging Face. */
  | {
      readonly kind: "files"
      readonly repository: string
      readonly revision: string
      readonly files: readonly ModelFile[]
    }
  /** An archive that fastembed downloads by its own name for the model. */
  | { readonly kind: "fastembed"; readonly model: string }

export interface KnownModel extends ModelFacts {
  readonly name: string
  readonly aliases: readonly string[]
  readonly dimension: number
  /** Shorter vectors that the model was trained for (Matryoshka). */
  readonly cuts: readonly number[]
  readonly languages: string
  /** Made for so many languages that no text is foreign to it. */
  readonly isMultilingual?: true
  readonly license: string
  /** Of the download, about. */
  readonly megabytes: number
  /** Nothing where it is only known how to ask it: its files come from a directory. */
  readonly source?: ModelSource
}

const E5 = { pooling: "mean", queryPrefix: "query: ", passagePrefix: "passage: ", tokensMax: 512 } as const
const BGE_EN = {
  pooling: "cls",
  queryPrefix: "Represent this sentence for searching relevant passages: ",
  passagePrefix: "",
  tokensMax: 512,
} as const
const PLAIN = { queryPrefix: "", passagePrefix: "" } as const

function files(
  repository: string,
  revision: string,
  model: readonly [string, string],
  tokenizer: readonly [string, string],
) {
  const [from, sha256] = model
  const [words, wordsSha256] = tokenizer
  return {
    kind: "files",
    repository,
    revision,
    files: [
      { from, to: "model.onnx", sha256 },
      { from: words, to: "tokenizer.json", sha256: wordsSha256 },
    ],
  } as const
}

const BERT_WORDS = ["tokenizer.json", "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"] as const

/** An English BGE model that fastembed itself downloads, under its name there. */
function bgeOfFastembed(name: string, dimension: number, megabytes: number): KnownModel {
  const model = `fast-${name}` as const
  return {
    name,
    aliases: [`BAAI/${name}`, model],
    ...BGE_EN,
    dimension,
    cuts: [],
    languages: "English",
    license: "MIT",
    megabytes,
    source: { kind: "fastembed", model },
  }
}

export const KNOWN_MODELS: readonly KnownModel[] = [
  {
    name: "multilingual-e5-small",
    aliases: ["intfloat/multilingual-e5-small"],
    ...E5,
    dimension: 384,
    cuts: [],
    languages: "100 languages",
    isMultilingual: true,
    license: "MIT",
    megabytes: 135,
    source: files(
      "intfloat/multilingual-e5-small",
      "614241f622f53c4eeff9890bdc4f31cfecc418b3",
      ["onnx/model_qint8_avx512_vnni.onnx", "dd476dd0c2514e9b9be83aeb3853fac0763e0bdf4a71645407587d77c48a2d88"],
      ["onnx/tokenizer.json", "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39"],
    ),
  },
  {
    name: "multilingual-e5-base",
    aliases: ["intfloat/multilingual-e5-base"],
    ...E5,
    dimension: 768,
    cuts: [],
    languages: "100 languages",
    isMultilingual: true,
    license: "MIT",
    megabytes: 573,
    source: files(
      "intfloat/multilingual-e5-base",
      "d128750597153bb5987e10b1c3493a34e5a4502a",
      ["onnx/model_O4.onnx", "f60256a833caee5c75a3903e589116752ee016ca7bc16f9b96e4db09984c5703"],
      ["onnx/tokenizer.json", "62c24cdc13d4c9952d63718d6c9fa4c287974249e16b7ade6d5a85e7bbb75626"],
    ),
  },
  {
    name: "multilingual-e5-large",
    aliases: ["intfloat/multilingual-e5-large", "fast-multilingual-e5-large"],
    ...E5,
    dimension: 1024,
    cuts: [],
    languages: "100 languages",
    isMultilingual: true,
    license: "MIT",
    megabytes: 2240,
    source: { kind: "fastembed", model: "fast-multilingual-e5-large" },
  },
  {
    name: "all-MiniLM-L6-v2",
    aliases: ["sentence-transformers/all-MiniLM-L6-v2", "minilm", "fast-all-MiniLM-L6-v2"],
    ...PLAIN,
    pooling: "mean",
    tokensMax: 256,
    dimension: 384,
    cuts: [],
    languages: "English",
    license: "Apache-2.0",
    megabytes: 24,
    source: files(
      "Xenova/all-MiniLM-L6-v2",
      "main",
      ["onnx/model_quantized.onnx", "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1"],
      ["tokenizer.json", "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"],
    ),
  },
  {
    name: "bge-small-en-v1.5",
    aliases: ["BAAI/bge-small-en-v1.5", "fast-bge-small-en-v1.5"],
    ...BGE_EN,
    dimension: 384,
    cuts: [],
    languages: "English",
    license: "MIT",
    megabytes: 35,
    source: files(
      "Xenova/bge-small-en-v1.5",
      "ea104dacec62c0de699686887e3f920caeb4f3e3",
      ["onnx/model_quantized.onnx", "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4"],
      BERT_WORDS,
    ),
  },
  bgeOfFastembed("bge-small-en", 384, 70),
  bgeOfFastembed("bge-base-en", 768, 220),
  bgeOfFastembed("bge-base-en-v1.5", 768, 220),
  {
    name: "bge-small-zh-v1.5",
    aliases: ["BAAI/bge-small-zh-v1.5", "fast-bge-small-zh-v1.5"],
    pooling: "cls",
    queryPrefix: "为这个句子生成表示以用于检索相关文章：",
    passagePrefix: "",
    tokensMax: 512,
    dimension: 512,
    cuts: [],
    languages: "Chinese",
    license: "MIT",
    megabytes: 90,
    source: { kind: "fastembed", model: "fast-bge-small-zh-v1.5" },
  },
  {
    name: "bge-m3",
    aliases: ["BAAI/bge-m3"],
    ...PLAIN,
    pooling: "cls",
    tokensMax: 8192,
    dimension: 1024,
    cuts: [],
    languages: "100 languages",
    isMultilingual: true,
    license: "MIT",
    megabytes: 588,
    source: files(
      "Xenova/bge-m3",
      "46ce10a0ac77ca4bab460d6676ba8260b33e68dc",
      ["onnx/sentence_transformers_int8.onnx", "e5b42096865cef734247dd8c7a44e35d305b70ba0c3736758065e1cad50f6453"],
      ["tokenizer.json", "6710678b12670bc442b99edc952c4d996ae309a7020c1fa0096dd245c2faf790"],
    ),
  },
  {
    name: "gte-multilingual-base",
    aliases: ["Alibaba-NLP/gte-multilingual-base", "gte-multilingual"],
    ...PLAIN,
    pooling: "cls",
    tokensMax: 8192,
    dimension: 768,
    cuts: [512, 256, 128],
    languages: "70 languages",
    isMultilingual: true,
    license: "Apache-2.0",
    megabytes: 357,
    source: files(
      "onnx-community/gte-multilingual-base",
      "2edbf5e672aab465f9ed4c154a8b61791c082c69",
      ["onnx/model_int8.onnx", "ab2bd164ebd8ca9003dc49a981b611e849b5d326f504c8873ba76e07fa6c0082"],
      ["tokenizer.json", "3a56def25aa40facc030ea8b0b87f3688e4b3c39eb8b45d5702b3a1300fe2a20"],
    ),
  },
  {
    name: "nomic-embed-text-v1.5",
    aliases: ["nomic-ai/nomic-embed-text-v1.5", "nomic"],
    pooling: "mean",
    queryPrefix: "search_query: ",
    passagePrefix: "search_document: ",
    tokensMax: 2048,
    dimension: 768,
    // It was trained with a layer norm before the cut, which its ONNX file does not have.
    cuts: [],
    languages: "English",
    license: "Apache-2.0",
    megabytes: 138,
    source: files(
      "nomic-ai/nomic-embed-text-v1.5",
      "e9b6763023c676ca8431644204f50c2b100d9aab",
      ["onnx/model_int8.onnx", "b4342336debaea79de872370664b0aaeb67dea4605513d00ee236ea871a81f27"],
      BERT_WORDS,
    ),
  },
  {
    name: "jina-embeddings-v2-base-code",
    aliases: ["jinaai/jina-embeddings-v2-base-code", "jina-code"],
    ...PLAIN,
    pooling: "mean",
    tokensMax: 8192,
    dimension: 768,
    cuts: [],
    languages: "English and code",
    license: "Apache-2.0",
    megabytes: 164,
    source: files(
      "jinaai/jina-embeddings-v2-base-code",
      "516f4baf13dec4ddddda8631e019b5737c8bc250",
      ["onnx/model_quantized.onnx", "ed45870251c9f0cf656e78aab0d37a23489066df8a222bb1c8caf8a45f2cb16d"],
      ["tokenizer.json", "b01c78a902aa4facb2f47f95449f48e2f7bbfea5d2472ee2f6ce92323c6f86e5"],
    ),
  },
  {
    name: "Qwen3-Embedding-0.6B",
    aliases: ["Qwen/Qwen3-Embedding-0.6B", "qwen3"],
    pooling: "last",
    queryPrefix: "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
    passagePrefix: "",
    tokensMax: 8192,
    dimension: 1024,
    cuts: [768, 512, 256, 128, 64, 32],
    languages: "100 languages and code",
    isMultilingual: true,
    license: "Apache-2.0",
    megabytes: 625,
    source: files(
      "onnx-community/Qwen3-Embedding-0.6B-ONNX",
      "c25a394dd583836952667c12f008335071b3f43d",
      ["onnx/model_int8.onnx", "6d0ea863f78b4a84afa3c7fcba1ec341572b5e28121aef77b7092b1dfdf679c7"],
      ["tokenizer.json", "def76fb086971c7867b829c23a26261e38d9d74e02139253b38aeb9df8b4b50a"],
    ),
  },
  {
    name: "e5-small-v2",
    aliases: ["intfloat/e5-small-v2"],
    ...E5,
    dimension: 384,
    cuts: [],
    languages: "English",
    license: "MIT",
    megabytes: 35,
  },
]
