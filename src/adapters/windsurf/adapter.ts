/** Windsurf: its chats, and transcripts of Cascade. Cascade's own files are encrypted. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { assemble, concerns, retention, source } from "./source.ts"

const UUID = "[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}"

export const windsurf: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "1.0", to: "2026" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: new RegExp(`^(?:${UUID}|workspace-[\\da-f]{32})$`),
    relativePaths: [
      new RegExp(`^(?:transcripts/)?${UUID}\\.jsonl$`),
      new RegExp(`^tabs/(?:${UUID}|workspace-[\\da-f]{32})\\.json$`),
    ],
  },
  assemble,
  retention: { of: retention },
  watching: { concerns },
}
