/** Claude Code, versions 1.0 to 2.1: the four faces of its adapter, each in a file of its own. */
import type { Adapter } from "../adapter.ts"
import { nativeFiles } from "../shared/native.ts"
import { context } from "./context.ts"
import { parse } from "./parse.ts"
import { source } from "./source.ts"

export const claudeCode: Adapter = {
  id: "claude-code",
  title: "Claude Code",
  verified: { from: "1.0.0", to: "2.1.326" },
  source,
  parse,
  context,
  serialize: {
    native: (log) => ({ sessionId: log.session.id, files: nativeFiles(log), losses: [] }),
    foreign: () => ({ sessionId: "", files: [], losses: [] }),
    resume: (sessionId, cwd) => ({ command: ["claude", "--resume", sessionId], cwd }),
  },
}
