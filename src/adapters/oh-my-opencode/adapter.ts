/** oh-my-opencode: the transcripts that this plugin of opencode writes into Claude Code's folder. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { source } from "./source.ts"

export const ohMyOpencode: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "2025", to: "2026" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[\w-]{1,100}:oh-my-opencode$/,
    relativePaths: [/^(?:transcripts\/)?(?:ses_[0-9A-Za-z]{1,60}|[\w-]{1,80}\.omo)\.jsonl$/],
  },
}
