/** Kiro's command line, and Amazon Q's of before. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { assemble, concerns, source } from "./source.ts"
import { vocabulary } from "./vocabulary.ts"

const UUID = "[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}"

export const kiro: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "samples", from: "1.0", to: "2.22" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: new RegExp(`^${UUID}$`),
    relativePaths: [new RegExp(`^(?:sessions/cli/)?${UUID}\\.jsonl?$`), new RegExp(`^documents/${UUID}\\.json$`)],
  },
  vocabulary,
  assemble,
  watching: { concerns },
}
