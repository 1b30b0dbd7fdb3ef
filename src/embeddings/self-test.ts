/**
 * Self-test of the native libraries: runs a real text through a tokenizer and a model with a known answer. The model is
 * a table of three rows with two numbers.
 */
import { assert } from "../model/errors.ts"
import { embeddingRuntime } from "./runtime.ts"

/** Printed by `bun build/corpus/tiny-model.ts`. Row n of its table is (2n, 2n + 1). */
export const SELF_TEST_MODEL =
  "CAgSBHBvbmQ6+AEKLQoFdGFibGUKCWlucHV0X2lkcxIRbGFzdF9oaWRkZW5fc3RhdGUiBkdhdGhlchIPZW1iZWRkaW5nLXRhYmxlKicIAwgCEAFCBXRhYmxlShgAAAAAAACAPwAAAEAAAEBAAACAQAAAoEBaKAoJaW5wdXRfaWRzEhsKGQgHEhUKBxIFYmF0Y2gKChIIc2VxdWVuY2VaLQoOYXR0ZW50aW9uX21hc2sSGwoZCAcSFQoHEgViYXRjaAoKEghzZXF1ZW5jZWI0ChFsYXN0X2hpZGRlbl9zdGF0ZRIfCh0IARIZCgcSBWJhdGNoCgoSCHNlcXVlbmNlCgIIAkIECgAQEQ=="

const TOKENIZER = {
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: { type: "Lowercase" },
  pre_tokenizer: { type: "Whitespace" },
  post_processor: null,
  decoder: null,
  model: { type: "WordLevel", vocab: { "[unk]": 0, water: 1, lily: 2 }, unk_token: "[unk]" },
}

export async function proveEmbedding(): Promise<string> {
  const { onnx, tokenizers } = embeddingRuntime()
  const tokenizer = tokenizers.Tokenizer.fromString(JSON.stringify(TOKENIZER))
  const ids = (await tokenizer.encode("Lily water heron")).getIds()
  assert(String(ids) === "2,1,0", `the tokenizer knows the words it was given, not ${ids}`)
  const session = await onnx.InferenceSession.create(Buffer.from(SELF_TEST_MODEL, "base64"))
  try {
    const tokens = (values: readonly number[]) => new onnx.Tensor("int64", BigInt64Array.from(values, BigInt), [1, 3])
    const answer = await session.run({ input_ids: tokens(ids), attention_mask: tokens([1, 1, 1]) })
    const numbers = String(answer["last_hidden_state"]?.data)
    assert(numbers === "4,5,2,3,0,1", `the model answers with rows of its table, not ${numbers}`)
  } finally {
    await session.release()
  }
  const { node, web } = onnx.env.versions
  return `ONNX Runtime ${node ?? `${web} (WebAssembly, slower)`} and the tokenizers answer as they should`
}
