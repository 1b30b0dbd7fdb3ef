/** iFlow CLI, version 1.0.0 of its logs. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { movedTo } from "./project-key.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const iflow: Adapter = {
  id: BRAND.id,
  title: "iFlow",
  judged: { by: "samples", from: "1.0.0", to: "1.0.0", packages: ["@iflow-ai/iflow-cli"] },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^session-[0-9a-f-]{32,36}$/i,
    relativePaths: [/^(?:projects\/[^/]+\/)?session-[0-9a-f-]{32,36}\.jsonl$/i],
  },
  vocabulary,
  models: { recordedAt: [{ role: "assistant", path: ["message", "model"] }] },
  usage,
  relocation: { relativePath: movedTo },
  watching: { concerns },
}
