/** Claude Code, versions 1.0 to 2.1: the four faces of its adapter, each in a file of its own. */
import type { Adapter } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { context } from "./context.ts"
import { foreign } from "./foreign.ts"
import { parse } from "./parse.ts"
import { placeIn } from "./project-key.ts"
import { BRAND, JUDGED } from "./records.ts"
import { registration } from "./registration.ts"
import { retention } from "./retention.ts"
import { concerns, source } from "./source.ts"
import { claudeCodeVocabulary } from "./vocabulary.ts"

export const claudeCode: Adapter = {
  id: BRAND.id,
  title: "Claude Code",
  judged: JUDGED,
  source,
  parse,
  context,
  serialize: {
    native: createNativeSerializer,
    foreign,
    resume: (sessionId, cwd, { root } = {}) => {
      const command = ["claude", "--resume", sessionId]
      return root === undefined
        ? { command, cwd }
        : { ...inOtherHome("Claude Code", { CLAUDE_CONFIG_DIR: root }), command, cwd }
    },
  },
  vocabulary: claudeCodeVocabulary,
  models: { provider: "anthropic", recordedAt: [{ role: "assistant", path: ["message", "model"] }] },
  relocation: { relativePath: (relativePath, _from, to) => placeIn(relativePath, to) },
  retention: { of: retention },
  watching: { concerns },
  registration,
}
