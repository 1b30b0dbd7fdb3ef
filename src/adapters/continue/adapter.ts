/** Continue: the sessions of its command line and of its editors, which are of one form. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND } from "./documents.ts"
import { parse } from "./parse.ts"
import { registration } from "./registration.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const continueDev: Adapter = {
  id: BRAND.id,
  title: "Continue",
  judged: { by: "client", from: "1.5.47", to: "1.5.47", packages: ["@continuedev/cli"] },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    relativePaths: [/^(?:sessions\/)?(?:sessions|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/i],
  },
  vocabulary,
  models: { recordedAt: [{ role: "assistant", path: ["message", "usage", "model"] }] },
  usage,
  watching: { concerns },
  registration,
}
