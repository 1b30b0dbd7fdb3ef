/** Search by meaning on this machine: its model. Each loads its work when it runs. */
import { Type } from "typebox"
import { nullable, oneOf } from "../fields.ts"
import { closedObject, defineLocalOperation, type RunContext } from "../operation.ts"
import type { UseHooks } from "./embeddings.ts"
import { Count } from "./shapes.ts"

const ChecksumSource = nullable(oneOf(["registry", "first download"]), {
  description: "What says how the files must be: pond's registry, or what arrived at the first download.",
})

export const embeddingsList = defineLocalOperation({
  name: "embeddings_list",
  summary: "List the embedding models that pond knows.",
  input: closedObject({}),
  output: closedObject({
    models: Type.Array(
      closedObject({
        name: Type.String(),
        state: oneOf(["in use", "downloaded", "available", "directory only"]),
        dimension: Count,
        cuts: Type.Array(Count, { description: "Shorter vectors that the model was trained for." }),
        tokens: Count,
        languages: Type.String(),
        license: Type.String(),
        megabytes: Count,
        checksums: ChecksumSource,
      }),
    ),
  }),
  errors: ["validation_failed"],
  surfaces: { local: true, cli: "embeddings list" },
  read: true,
  run: async ({ pond }: RunContext) => ({ models: [...(await import("./embeddings.ts")).listModels(pond)] }),
})

export const embeddingsUse = defineLocalOperation({
  name: "embeddings_use",
  summary: "Turn on search by meaning: download a model, check it and test it.",
  input: closedObject({
    model: Type.String({
      minLength: 1,
      description:
        "The name of a model that `embeddings list` shows, or a directory with model.onnx and tokenizer.json.",
    }),
    endpoint: Type.Optional(
      Type.String({
        pattern: "^https?://",
        description:
          "A server that speaks OpenAI's embeddings API, to use instead of this machine. It receives every stored text and every query.",
      }),
    ),
    dimension: Type.Optional(
      Type.Integer({
        minimum: 8,
        maximum: 8192,
        description: "Shorter vectors, for a model that was trained for them.",
      }),
    ),
  }),
  output: closedObject({
    model: Type.String(),
    directory: Type.String(),
    dimension: Count,
    test: closedObject({ passed: Count, of: Count }),
    config: Type.String(),
    changed: Type.Boolean(),
  }),
  errors: ["validation_failed", "storage_unavailable", "interrupted"],
  surfaces: { local: true, cli: "embeddings use" },
  read: false,
  run: async ({ pond, signal, onDownload }: RunContext & Partial<UseHooks>, request) =>
    await (await import("./embeddings.ts")).useModel(pond, request, {
      signal,
      ...(onDownload === undefined ? {} : { onDownload }),
    }),
})

export const embeddingsOff = defineLocalOperation({
  name: "embeddings_off",
  summary: "Turn off search by meaning. Models and vectors stay.",
  input: closedObject({}),
  output: closedObject({ config: Type.String(), changed: Type.Boolean() }),
  errors: ["validation_failed"],
  surfaces: { local: true, cli: "embeddings off" },
  read: false,
  run: async ({ pond }: RunContext) => (await import("./embeddings.ts")).turnOff(pond),
})

export const embeddingsStatus = defineLocalOperation({
  name: "embeddings_status",
  summary: "Show the embedding model in use and how many messages have vectors.",
  input: closedObject({}),
  output: closedObject({
    on: Type.Boolean(),
    model: nullable(Type.String()),
    directory: nullable(Type.String()),
    host: nullable(Type.String(), {
      description: "The server that receives every text, if one embeds instead of this machine.",
    }),
    downloaded: Type.Boolean(),
    dimension: nullable(Count),
    pooling: nullable(Type.String()),
    query_prefix: nullable(Type.String()),
    passage_prefix: nullable(Type.String()),
    max_tokens: nullable(Count),
    files: nullable(oneOf(["unchanged", "changed", "unknown"]), {
      description: "Whether its files are as pond downloaded them. Null where pond did not.",
    }),
    checksums: ChecksumSource,
    embedded: Count,
    total: Count,
  }),
  errors: ["validation_failed"],
  surfaces: { local: true, cli: "embeddings status" },
  read: true,
  run: async ({ pond }: RunContext) => await (await import("./embeddings.ts")).embeddingsStatus(pond),
})
