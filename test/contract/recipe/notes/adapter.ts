/** A client of nobody: what an adapter has to have, and nothing more. See `src/adapters/README.md`. */
import type { Adapter } from "../../../../src/adapters/adapter.ts"
import { context } from "./context.ts"
import { parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { source } from "./source.ts"

export const notes: Adapter = {
  id: "notes",
  title: "Notes",
  judged: { by: "source only", from: "1.0.0", to: "1.0.0" },
  source,
  parse,
  context,
  serialize,
  output: { sessionIds: /^[0-9a-f-]{36}$/, relativePaths: [/^[0-9a-f-]{36}\.jsonl$/] },
}
