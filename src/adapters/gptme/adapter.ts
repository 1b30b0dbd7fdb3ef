/** gptme: the conversations of its command line. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"

export const gptme: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "samples", from: "2026", to: "2026" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^\d{4}-\d{2}-\d{2}-[\w-]{1,100}$/,
    relativePaths: [/^(?:[\w-]{1,60}\/)?\d{4}-\d{2}-\d{2}-[\w-]{1,100}\/conversation\.jsonl$/],
  },
  usage,
  watching: { concerns },
}
