/** Crush: the sessions of its projects. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, session } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { assemble, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const crush: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "0.1", to: "0.96", packages: ["@charmland/crush"] },
  source,
  parse: session.parse,
  context,
  serialize,
  output: {
    // Those of agents are named after a call.
    sessionIds: /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\$\$[\w-]{1,80})?$|^(?:call|toolu)_[\w-]{1,80}$/,
    relativePaths: [/^documents\/[\da-zA-Z][\w$-]{0,180}\.json$/],
  },
  vocabulary,
  usage,
  assemble,
}
