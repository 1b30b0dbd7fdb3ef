/** Codex, from its first client to version 0.169: the four faces of its adapter, each in a file of its own. */
import type { Adapter, ResumeCommand, Whereabouts } from "../adapter.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { context } from "./context.ts"
import { foreign } from "./foreign.ts"
import { BRAND } from "./opening.ts"
import { parse } from "./parse.ts"
import { registration } from "./registration.ts"
import { nameOf } from "./rollout-name.ts"
import { createSurvey, native, repoint, unchangedByRepoint } from "./serialize.ts"
import { isArchived, source } from "./source.ts"

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
    nameOf,
    repoint,
    unchangedByRepoint,
    foreign,
    resume,
  },
  // Messages do not say it: each turn begins with a record of its own that does.
  modelAt: [{ role: "system", path: ["payload", "model"] }],
  registration,
}

/** It refuses a thread that is archived, and one that is not cannot be brought back. */
function resume(sessionId: string, cwd: string, { relativePath = "", root }: Whereabouts = {}): ResumeCommand {
  return {
    ...(root === undefined ? {} : inOtherHome("Codex", { CODEX_HOME: root })),
    ...(isArchived(relativePath) ? { before: ["codex", "unarchive", sessionId] } : {}),
    command: ["codex", "resume", sessionId],
    cwd,
  }
}
