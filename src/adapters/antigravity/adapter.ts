/** Antigravity: conversations of its editor, its command line and its server. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { assemble, concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

const UUID = "[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}"

export const antigravity: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "1.0.9", to: "1.3.1" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: new RegExp(`^(?:transcript-)?${UUID}$`),
    relativePaths: [new RegExp(`^conversations/${UUID}\\.json$`), new RegExp(`^transcripts/${UUID}\\.jsonl$`)],
  },
  vocabulary,
  usage,
  assemble,
  watching: { concerns },
}
