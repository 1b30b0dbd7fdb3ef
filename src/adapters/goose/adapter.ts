/** Goose, whose sessions are rows of a database since version 1.10 and were logs before. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { parse } from "./parse.ts"
import { BRAND } from "./records.ts"
import { registration } from "./registration.ts"
import { schema } from "./schema.ts"
import { serialize } from "./serialize.ts"
import { rows, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const goose: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "client", from: "1.52.0", to: "1.52.0", packages: ["@aaif/goose-binary"] },
  source,
  parse,
  context,
  serialize,
  output: {
    // Of a counted one pond's own has its time of creation behind it.
    sessionIds: /^\d{8}_(?:\d{1,10}|\d{1,5}-\d{6})$/,
    relativePaths: [/^(?:sessions\/)?sessions\.db$/, /^(?:sessions\/)?\d{8}_\d{1,10}\.jsonl$/],
    grants: [
      {
        at: { table: "sessions" },
        word: "goose_mode",
        of: ({ goose_mode: mode }) => (mode === "auto" || mode === "smart_approve" ? `goose_mode ${mode}` : undefined),
      },
    ],
  },
  vocabulary,
  models: { recordedAt: [{ role: "assistant", path: ["metadata_json", "inference", "requestedModel"] }] },
  usage,
  database: { schema, rows },
  registration,
}
