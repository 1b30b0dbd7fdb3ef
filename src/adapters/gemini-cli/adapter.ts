/** Gemini CLI, from its first recorded chats (0.0.77) to the event logs of today. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { fileRecord } from "./files.ts"
import { parse } from "./parse.ts"
import { movedTo, placeBelowProject } from "./project-folder.ts"
import { BRAND } from "./records.ts"
import { hooks, registration } from "./registration.ts"
import { retention } from "./retention.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const geminiCli: Adapter = {
  id: BRAND.id,
  title: "Gemini CLI",
  judged: { by: "client", from: "0.61.0", to: "0.61.0", packages: ["@google/gemini-cli"] },
  source,
  parse,
  context,
  serialize,
  output: {
    // A chat that lost its metadata is named after its file.
    sessionIds: /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|session-[\w-]+)$/i,
    relativePaths: [
      /^tmp\/[\w-]+\/chats\/(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[\w-]+\.jsonl|session-[\w-]+\.jsonl?)$/i,
      /^tmp\/[\w-]+\/tool-outputs\/session-[\w-]+\/[\w.-]+$/,
    ],
  },
  vocabulary,
  models: { provider: "google", recordedAt: [{ role: "assistant", path: ["model"] }] },
  usage,
  files: fileRecord,
  relocation: { relativePath: movedTo, nameOf: placeBelowProject },
  retention: { of: retention },
  watching: { concerns },
  registration,
  hooks,
}
