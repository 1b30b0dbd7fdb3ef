/** Cursor: chats of its editor and of its command line, and transcripts of both. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND } from "./documents.ts"
import { parse } from "./parse.ts"
import { registration } from "./registration.ts"
import { serialize } from "./serialize.ts"
import { assemble, concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

const UUID = "[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}"

export const cursor: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "0.43", to: "3.17" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: new RegExp(`^(?:agent-transcripts-|agent-)?${UUID}$|^workspace-[\\da-f]{32}$`),
    relativePaths: [
      new RegExp(`^composers/${UUID}\\.json$`),
      new RegExp(`^tabs/(?:${UUID}|workspace-[\\da-f]{32})\\.json$`),
      new RegExp(`^chats/[\\da-f]{32}/(?:agent-)?${UUID}\\.json$`),
      new RegExp(`^projects/[\\w-]{1,255}/agent-transcripts/(?:${UUID}/(?:subagents/)?)?${UUID}\\.jsonl$`),
    ],
  },
  vocabulary,
  usage,
  assemble,
  watching: { concerns },
  registration,
}
