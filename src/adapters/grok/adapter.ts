/** Grok Build of xAI: a folder for each session, with a log for who watches and one for its model. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { parse } from "./parse.ts"
import { BRAND, groupOf } from "./records.ts"
import { registration } from "./registration.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

const FOLDER = String.raw`(?:sessions\/[^/]+\/)?[\w-]+\/`

export const grok: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "client", from: "1.0.41", to: "1.0.41", packages: ["@xai-official/grok"] },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    relativePaths: [
      new RegExp(`^${FOLDER}(?:updates|chat_history|btw_history|feedback|rewind_points)\\.jsonl$`),
      new RegExp(`^${FOLDER}(?:summary|plan|plan_mode|tool_state)\\.json$`),
      new RegExp(`^${FOLDER}(?:goal/state|compaction_checkpoints/[\\w-]+|subagents/[\\w-]+/(?:meta|output))\\.json$`),
      new RegExp(`^${FOLDER}compaction/[\\w-]+\\.md$`),
    ],
  },
  vocabulary,
  models: { recordedAt: [{ role: "assistant", path: ["params", "update", "_meta", "modelId"] }] },
  usage,
  contentIds: true,
  relocation: {
    relativePath: (path, from, to) => path.replace(`sessions/${groupOf(from)}/`, () => `sessions/${groupOf(to)}/`),
  },
  watching: { concerns },
  registration,
}
