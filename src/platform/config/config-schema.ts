/**
 * Every setting of pond, once: its key in `config.toml`, its type, its environment variable, its flag and its default.
 * Reading, checking, `pond config` and the suggestions all derive from this schema. To add a setting, add a leaf here;
 * read it as `host.settings().values.<key>`. It knows nothing of where values come from: that is `config.ts`.
 */
import { type Static, type TSchema, Type } from "typebox"

/** What a leaf says of itself beyond its type. */
export interface SettingFacts {
  readonly description: string
  /** The environment variable that sets it. */
  readonly environment?: string
  /** The global flag that sets it, without dashes. */
  readonly flag?: string
  readonly default?: unknown
  /** Shown as `(set)`, never as itself. */
  readonly isSecret?: boolean
}

function facts(known: SettingFacts): SettingFacts {
  return known
}

export const ConfigSchema = Type.Object(
  {
    store: Type.String({
      minLength: 1,
      ...facts({
        description: "The store: a directory or a storage URL.",
        environment: "POND_STORE",
        flag: "store",
      }),
    }),
    namespace: Type.String({
      minLength: 1,
      ...facts({
        description: "The namespace in a shared store; a personal store has one.",
        environment: "POND_NAMESPACE",
        flag: "namespace",
        default: "local",
      }),
    }),
    bucket_cache_mb: Type.Integer({
      minimum: 0,
      ...facts({
        description: "How many megabytes of a bucket's files are kept in the cache directory; 0 for none.",
        environment: "POND_BUCKET_CACHE_MB",
        default: 2000,
      }),
    }),
    embeddings: Type.Object(
      {
        enabled: Type.Optional(
          Type.Boolean({
            ...facts({
              description: "Search by meaning. `pond embeddings use` and `pond embeddings off` set it.",
            }),
          }),
        ),
        model: Type.String({
          minLength: 1,
          ...facts({
            description: "The name of the embedding model. It is stored with every vector.",
            environment: "POND_EMBEDDINGS_MODEL",
            default: "multilingual-e5-small",
          }),
        }),
        directory: Type.Optional(
          Type.String({
            minLength: 1,
            ...facts({
              description: "The directory of the model, with model.onnx and tokenizer.json.",
              environment: "POND_EMBEDDINGS_DIRECTORY",
            }),
          }),
        ),
        url: Type.Optional(
          Type.String({
            pattern: "^https?://",
            ...facts({ description: "The URL to download the model from: a tar file of such a directory." }),
          }),
        ),
        sha256: Type.Optional(
          Type.String({
            pattern: "^[0-9a-fA-F]{64}$",
            ...facts({ description: "The SHA-256 checksum of that file." }),
          }),
        ),
        pooling: Type.Optional(
          Type.Enum(["mean", "cls", "last"], {
            ...facts({
              description:
                "How the vectors of a text's tokens become one: their mean, the first (cls) or the last. The model's own files say it, or its name does.",
            }),
          }),
        ),
        query_prefix: Type.Optional(
          Type.String({ ...facts({ description: "What the model wants before a query, as its card says." }) }),
        ),
        passage_prefix: Type.Optional(
          Type.String({ ...facts({ description: "What the model wants before a stored text." }) }),
        ),
        max_tokens: Type.Optional(
          Type.Integer({
            minimum: 16,
            maximum: 8192,
            ...facts({ description: "The longest text in tokens that is embedded at once (default: 512 or less)." }),
          }),
        ),
        endpoint: Type.Optional(
          Type.String({
            pattern: "^https?://",
            ...facts({
              description:
                "A server that speaks OpenAI's embeddings API, to use instead of this machine. It receives every stored text and every query.",
              environment: "POND_EMBEDDINGS_ENDPOINT",
            }),
          }),
        ),
        api_key: Type.Optional(
          Type.String({
            minLength: 1,
            ...facts({
              description: "The key of that server.",
              environment: "POND_EMBEDDINGS_API_KEY",
              isSecret: true,
            }),
          }),
        ),
        requests_per_minute: Type.Optional(
          Type.Integer({ minimum: 1, ...facts({ description: "How often that server is asked at most." }) }),
        ),
        exclude_projects: Type.Array(Type.String({ minLength: 1 }), {
          ...facts({
            description: "Directories whose messages are never embedded, here or by a server.",
            default: [],
          }),
        }),
        rerank: Type.Optional(
          Type.Boolean({
            ...facts({
              description:
                "Read the best hits of a search again with a small model, which ranks them better and takes a quarter of a second (default: true).",
            }),
          }),
        ),
        dimension: Type.Optional(
          Type.Integer({
            minimum: 8,
            maximum: 8192,
            ...facts({ description: "Shorter vectors, for a model that was trained for them (Matryoshka)." }),
          }),
        ),
      },
      { additionalProperties: false },
    ),
    storage: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String(), Type.String()), {
        ...facts({
          description: "Credentials and endpoints of storage URLs: one table per URL prefix.",
          isSecret: true,
        }),
      }),
    ),
    prices: Type.Optional(
      Type.Object(
        {
          file: Type.Optional(
            Type.String({
              minLength: 1,
              ...facts({
                description: "A file of model prices, used instead of the ones that come with pond.",
                environment: "POND_PRICES_FILE",
              }),
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    projects: Type.Object(
      {
        excluded: Type.Array(Type.String({ minLength: 1 }), {
          ...facts({
            description: "Projects that are not stored: directories, patterns with * or **, or parts of a path.",
            default: [],
          }),
        }),
      },
      { additionalProperties: false },
    ),
    recall: Type.Object(
      {
        enabled: Type.Boolean({
          ...facts({
            description:
              "Whether `pond hook` adds what earlier sessions said to prompts. POND_RECALL=off turns it off for one session.",
            environment: "POND_RECALL",
            default: true,
          }),
        }),
        excluded: Type.Array(Type.String({ minLength: 1 }), {
          ...facts({
            description: "Projects without recall: directories, patterns with * or **, or parts of a path.",
            default: [],
          }),
        }),
        tokens: Type.Integer({
          minimum: 30,
          maximum: 10_000,
          ...facts({
            description: "The room that recall takes in a prompt, in tokens, with what cites and frames it.",
            default: 400,
          }),
        }),
        timeout_ms: Type.Integer({
          minimum: 50,
          maximum: 60_000,
          ...facts({
            description: "How long a hook may keep its client waiting, in milliseconds; then it adds nothing.",
            environment: "POND_RECALL_TIMEOUT_MS",
            default: 1_000,
          }),
        }),
      },
      { additionalProperties: false },
    ),
    adapters: Type.Object(
      {
        disabled: Type.Array(Type.String(), {
          ...facts({
            description: "Clients that pond does not read unless you name them.",
            default: [],
          }),
        }),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)

export type Config = Static<typeof ConfigSchema>

/** One leaf of the schema, with its dotted key. */
export interface Setting extends SettingFacts {
  readonly key: readonly string[]
  readonly schema: TSchema
}

interface Node extends SettingFacts {
  readonly properties?: Readonly<Record<string, TSchema>>
}

/** The leaves in the order of the schema; a table with open keys is one leaf. */
export function settingsOf(schema: TSchema, under: readonly string[] = []): Setting[] {
  const properties = Object.entries((schema as Node).properties ?? {})
  return properties.flatMap(([name, child]) => {
    const key = [...under, name]
    if ((child as Node).properties !== undefined) return settingsOf(child, key)
    return [{ ...(child as Node & TSchema), key, schema: child }]
  })
}
