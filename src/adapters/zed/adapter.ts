/** Zed: the threads of its own agent. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, thread } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { assemble, concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const zed: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "0.1", to: "0.3" },
  source,
  parse: thread.parse,
  context,
  serialize,
  output: {
    sessionIds: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/,
    relativePaths: [/^documents\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.json$/],
  },
  vocabulary,
  usage,
  assemble,
  watching: { concerns },
}
