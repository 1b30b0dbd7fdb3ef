/** Codex, from its first client to version 0.169: the four faces of its adapter, each in a file of its own. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { foreign } from "./foreign.ts"
import { BRAND } from "./opening.ts"
import { parse } from "./parse.ts"
import { registration } from "./registration.ts"
import { createSurvey, native, repoint, unchangedByRepoint } from "./serialize.ts"
import { source } from "./source.ts"

export const codex: Adapter = {
  id: BRAND.id,
  title: "Codex",
  verified: { from: "0.40.0", to: "0.169.0" },
  source,
  parse,
  context,
  serialize: {
    native,
    isPiecewise: true,
    survey: createSurvey,
    repoint,
    unchangedByRepoint,
    foreign,
    resume: (sessionId, cwd) => ({ command: ["codex", "resume", sessionId], cwd }),
  },
  // Messages do not say it: each turn begins with a record of its own that does.
  modelAt: [{ role: "system", path: ["payload", "model"] }],
  registration,
}
