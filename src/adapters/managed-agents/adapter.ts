/** Sessions of Anthropic's managed agents, as their API gives them. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, events } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { assemble, source } from "./source.ts"
import { usage } from "./usage.ts"

export const managedAgents: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "2026-04-01", to: "2026-04-01" },
  source,
  parse: events.parse,
  context,
  serialize,
  output: {
    sessionIds: /^sesn_[\w-]{1,80}(?::[\w-]{1,80})?$/,
    relativePaths: [/^[\w-]{1,80}(?:\.[\w-]{1,80})?\.managed\.json$/],
  },
  usage,
  assemble,
}
