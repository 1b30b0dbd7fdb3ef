/** Amp: the threads that it kept in files until spring 2026. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND } from "./documents.ts"
import { parse } from "./parse.ts"
import { registration } from "./registration.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const amp: Adapter = {
  id: BRAND.id,
  title: "Amp",
  judged: { by: "client", from: "0.0.1767830505", to: "0.0.1767830505", packages: ["@sourcegraph/amp"] },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^T-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    relativePaths: [/^(?:threads3?|threads-development)\/[\w-]+\.json$/],
  },
  vocabulary,
  models: { recordedAt: [{ role: "assistant", path: ["usage", "model"] }] },
  usage,
  watching: { concerns },
  registration,
}
