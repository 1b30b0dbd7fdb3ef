/** Codex, from its first client to version 0.169, and the command line of Trae, which is made of it. */
import type { Adapter } from "../adapter.ts"
import type { OutputForms } from "../output-forms.ts"
import { context } from "./context.ts"
import { openBases } from "./lineage.ts"
import { BRAND, TRAE } from "./opening.ts"
import { parserOf } from "./parse.ts"
import { hooks, registration } from "./registration.ts"
import { nameOf } from "./rollout-name.ts"
import { traeRoots } from "./roots.ts"
import { repoint, serialize, unchangedByRepoint } from "./serialize.ts"
import { concerns, currentPath, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

const output: OutputForms = {
  sessionIds: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  relativePaths: [
    /^(?:sessions|archived_sessions)\/(?:\d+\/){0,3}rollout-[\dT:-]+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\.json(?:l(?:\.zst)?)?$/i,
    /^session_index\.jsonl$/,
  ],
}

export const codex: Adapter = {
  id: BRAND.id,
  title: "Codex",
  judged: { by: "client", from: "0.40.0", to: "0.169.0", packages: ["@openai/codex"] },
  source,
  parse: parserOf(BRAND),
  context,
  serialize,
  output,
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

/** Its program is closed, and was not run: what would have to be written for it of other clients was not tried. */
export const traeCli: Adapter = {
  id: TRAE.id,
  title: "TRAE CLI",
  judged: { by: "source only", from: "0.200.19", to: "0.200.19" },
  source: { ...source, roots: traeRoots },
  parse: parserOf(TRAE),
  context,
  serialize: {
    native: serialize.native,
    resume: (sessionId, cwd) => ({ command: ["traex", "resume", sessionId], cwd }),
  },
  output,
  vocabulary,
  models: { recordedAt: [{ role: "system", path: ["payload", "model"] }] },
  usage,
  contentIds: true,
  lineage: { open: openBases },
  watching: { concerns },
}
