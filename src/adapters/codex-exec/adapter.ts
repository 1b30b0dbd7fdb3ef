/** What `codex exec --json` prints. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const codexExec: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "samples", from: "0.169.0", to: "0.169.0" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}:codex-exec$/,
    relativePaths: [/^(?:[\w-]{1,60}\/){0,3}[\w-]{1,80}\.exec\.jsonl$/],
  },
  vocabulary,
  usage,
}
