/** Claude Code, versions 1.0 to 2.1: the four faces of its adapter, each in a file of its own. */
import type { Adapter } from "../adapter.ts"
import { nativeFiles } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { context } from "./context.ts"
import { foreign } from "./foreign.ts"
import { parse } from "./parse.ts"
import { placeIn } from "./project-key.ts"
import { BRAND, VERIFIED } from "./records.ts"
import { registration } from "./registration.ts"
import { source } from "./source.ts"

export const claudeCode: Adapter = {
  id: BRAND.id,
  title: "Claude Code",
  verified: VERIFIED,
  source,
  parse,
  context,
  serialize: {
    native: (log) => ({ sessionId: log.session.id, files: nativeFiles(log), losses: [] }),
    isPiecewise: true,
    foreign,
    place: (place, _from, to) => placeIn(place, to),
    resume: (sessionId, cwd, { root } = {}) => {
      const command = ["claude", "--resume", sessionId]
      return root === undefined
        ? { command, cwd }
        : { ...inOtherHome("Claude Code", { CLAUDE_CONFIG_DIR: root }), command, cwd }
    },
  },
  modelAt: [{ role: "assistant", path: ["message", "model"] }],
  registration,
}
