/** GitHub Copilot CLI, from its single documents of 2025 to the event logs of version 1.0.102. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { fileRecord } from "./files.ts"
import { BRAND, parse } from "./parse.ts"
import { hooks, registration } from "./registration.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const copilotCli: Adapter = {
  id: BRAND.id,
  title: "GitHub Copilot CLI",
  judged: { by: "client", from: "1.0.102", to: "1.0.102", packages: ["@github/copilot"] },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    relativePaths: [
      /^session-state\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\.jsonl|\/events\.jsonl|\/workspace\.yaml|\/plan\.md)$/i,
      /^session-state\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/checkpoints\/(?:index|\d+-[^/\\]+)\.md$/i,
      /^session-state\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/rewind-file-snapshots\/(?:index|tracking)\.json$/i,
      /^history-session-state\/session_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}_\d+\.json$/i,
    ],
    grants: [
      {
        at: /\.jsonl$/,
        word: "session.permissions_changed",
        of: ({ type }) => (type === "session.permissions_changed" ? "changed permissions" : undefined),
      },
    ],
  },
  vocabulary,
  models: { recordedAt: [{ role: "assistant", path: ["data", "model"] }] },
  usage,
  files: fileRecord,
  watching: { concerns },
  registration,
  hooks,
}
