/** Junie: the sessions of its command line and of its agent in JetBrains' editors. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { vocabulary } from "./vocabulary.ts"

export const junie: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "3110.7", to: "3110.7" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^(?=[\w-]*[\d-])[\da-zA-Z][\w-]{3,100}$/,
    relativePaths: [/^sessions\/(?:index\.jsonl|(?=[\w-]*[\d-])[\da-zA-Z][\w-]{3,100}\/events\.jsonl)$/],
  },
  vocabulary,
  watching: { concerns },
}
