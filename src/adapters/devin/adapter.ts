/** Devin CLI: the sessions of its command line. */
import type { Adapter } from "../adapter.ts"
import { stepsUsage } from "../shared/step-usage.ts"
import { context } from "./context.ts"
import { BRAND, session } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { assemble, concerns, source } from "./source.ts"

export const devin: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "2026", to: "3000.3.22" },
  source,
  parse: session.parse,
  context,
  serialize,
  output: {
    sessionIds: /^(?=[\w-]*[\d-])[\da-zA-Z][\w-]{3,100}$/,
    relativePaths: [/^devin-sessions\/(?=[\w-]*[\d-])[\da-zA-Z][\w-]{3,100}\.json$/],
  },
  usage: stepsUsage,
  assemble,
  watching: { concerns },
}
