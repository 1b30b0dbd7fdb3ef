/** Codex, from its first client to version 0.169: the four faces of its adapter, each in a file of its own. */
import type { Adapter, ResumeCommand, SessionLocation } from "../adapter.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { context } from "./context.ts"
import { foreign } from "./foreign.ts"
import { openBases } from "./lineage.ts"
import { BRAND } from "./opening.ts"
import { parse } from "./parse.ts"
import { registration } from "./registration.ts"
import { nameOf } from "./rollout-name.ts"
import { native, repoint, unchangedByRepoint } from "./serialize.ts"
import { concerns, currentPath, isArchived, source } from "./source.ts"
import { codexVocabulary } from "./vocabulary.ts"

export const codex: Adapter = {
  id: BRAND.id,
  title: "Codex",
  judged: { by: "client", from: "0.40.0", to: "0.169.0" },
  source,
  parse,
  context,
  serialize: { native, foreign, resume },
  vocabulary: codexVocabulary,
  // Messages do not say it: each turn begins with a record of its own that does.
  models: { provider: "openai", recordedAt: [{ role: "system", path: ["payload", "model"] }] },
  contentIds: true,
  lineage: { open: openBases },
  relocation: { nameOf, currentPath, repoint, unchangedByRepoint },
  watching: { concerns },
  registration,
}

/** It refuses a thread that is archived, and one that is not cannot be brought back. */
function resume(sessionId: string, cwd: string, { relativePath = "", root }: SessionLocation = {}): ResumeCommand {
  return {
    ...(root === undefined ? {} : inOtherHome("Codex", { CODEX_HOME: root })),
    ...(isArchived(relativePath) ? { before: ["codex", "unarchive", sessionId] } : {}),
    command: ["codex", "resume", sessionId],
    cwd,
  }
}
