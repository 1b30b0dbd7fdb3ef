/** Warp: the conversations of the agents of this terminal. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, conversation } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { assemble, concerns, retention, source } from "./source.ts"
import { vocabulary } from "./vocabulary.ts"

const UUID = "[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}"

export const warp: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "2025", to: "2026" },
  source,
  parse: conversation.parse,
  context,
  serialize,
  output: {
    sessionIds: new RegExp(`^${UUID}(?:\\$[\\w-]{1,100})?$`),
    relativePaths: [new RegExp(`^documents/${UUID}(?:\\$[\\w-]{1,100})?\\.json$`)],
  },
  vocabulary,
  models: { recordedAt: [{ role: "system", path: ["model_used", "model_id"] }] },
  assemble,
  retention: { of: retention },
  watching: { concerns },
}
