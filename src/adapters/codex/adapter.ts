/** Codex, from its first client to version 0.169. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { openBases } from "./lineage.ts"
import { BRAND } from "./opening.ts"
import { parse } from "./parse.ts"
import { hooks, registration } from "./registration.ts"
import { nameOf } from "./rollout-name.ts"
import { repoint, serialize, unchangedByRepoint } from "./serialize.ts"
import { concerns, currentPath, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const codex: Adapter = {
  id: BRAND.id,
  title: "Codex",
  judged: { by: "client", from: "0.40.0", to: "0.169.0" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    relativePaths: [
      /^(?:sessions|archived_sessions)\/(?:\d+\/){0,3}rollout-[\dT:-]+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\.json(?:l(?:\.zst)?)?$/i,
      /^session_index\.jsonl$/,
    ],
  },
  vocabulary,
  // Messages do not say it: each turn begins with a separate record that does.
  models: { provider: "openai", recordedAt: [{ role: "system", path: ["payload", "model"] }] },
  usage,
  contentIds: true,
  lineage: { open: openBases },
  relocation: { nameOf, currentPath, repoint, unchangedByRepoint },
  watching: { concerns },
  registration,
  hooks,
}
