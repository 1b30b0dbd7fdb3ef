/** Qwen Code, since it keeps its chats as logs (0.4). */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { fileRecord } from "./files.ts"
import { parse } from "./parse.ts"
import { movedTo, unarchived } from "./project-key.ts"
import { BRAND } from "./records.ts"
import { hooks, registration } from "./registration.ts"
import { isOfSubAgent, retention } from "./retention.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const qwenCode: Adapter = {
  id: BRAND.id,
  title: "Qwen Code",
  judged: { by: "client", from: "0.24.4", to: "0.24.4", packages: ["@qwen-code/qwen-code"] },
  source,
  parse,
  context,
  serialize,
  output: {
    // An agent is told apart within the chat that started it.
    sessionIds: /^[0-9a-f][0-9a-f-]{31,35}(?::agent-[\w-]+)?$/i,
    relativePaths: [
      /^projects\/[\w-]+\/chats\/(?:archive\/)?[0-9a-f][0-9a-f-]{31,35}\.jsonl$/i,
      /^projects\/[\w-]+\/subagents\/[0-9a-f][0-9a-f-]{31,35}\/agent-[\w-]+\.(?:jsonl|meta\.json)$/i,
    ],
  },
  vocabulary,
  models: { recordedAt: [{ role: "assistant", path: ["model"] }] },
  usage,
  files: fileRecord,
  relocation: { relativePath: movedTo, nameOf: unarchived },
  retention: { of: retention, deletes: isOfSubAgent },
  watching: { concerns },
  registration,
  hooks,
}
