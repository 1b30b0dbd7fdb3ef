/** Letta Code: the transcripts that it writes beside the conversations of its agents. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { vocabulary } from "./vocabulary.ts"

export const letta: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "samples", from: "2026", to: "0.25.9", packages: ["@letta-ai/letta-code"] },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^agent-[\w-]{1,100}:[\w-]{1,100}$/,
    relativePaths: [/^agent-[\w-]{1,100}\/[\w-]{1,100}\/transcript\.jsonl$/],
  },
  vocabulary,
  watching: { concerns },
}
