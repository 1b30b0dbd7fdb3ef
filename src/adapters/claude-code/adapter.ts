/** Claude Code, versions 1.0 to 2.1. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { fileRecord } from "./files.ts"
import { parse } from "./parse.ts"
import { placeIn } from "./project-key.ts"
import { BRAND, JUDGED } from "./records.ts"
import { registration } from "./registration.ts"
import { retention } from "./retention.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const claudeCode: Adapter = {
  id: BRAND.id,
  title: "Claude Code",
  judged: JUDGED,
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?::agent-[\w-]+)?$/i,
    // Nothing else below a project: its `memory/` is read by every later session there.
    relativePaths: [
      /^projects\/[^/]+\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/i,
      /^projects\/[^/]+\/agent-[\w-]+\.(?:jsonl|meta\.json)$/,
      /^projects\/[^/]+\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/(?:subagents|tool-results|workflows)\/(?:[\w.-]+\/)*[\w.-]+$/i,
      /^todos\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-agent-[\w-]+\.json$/i,
    ],
  },
  vocabulary,
  models: { provider: "anthropic", recordedAt: [{ role: "assistant", path: ["message", "model"] }] },
  usage,
  branch: [["gitBranch"]],
  files: fileRecord,
  relocation: { relativePath: (relativePath, _from, to) => placeIn(relativePath, to) },
  retention: { of: retention },
  watching: { concerns },
  registration,
}
