/** Mistral Vibe: the store of 3.x, logs of 2.x, documents of 1.x. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { parse } from "./parse.ts"
import { BRAND } from "./records.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const vibe: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "client", from: "1.3.5", to: "3.0.3" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|session_[\d_]+[0-9a-f]{8})$/i,
    relativePaths: [
      /^session_[\w-]+\.json$/,
      /^(?:session_[\w-]+\/(?:agents\/)?){1,4}(?:messages\.jsonl|meta\.json)$/,
      /^unified\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/(?:CURRENT|meta\.json|scheduled-loops\.json)$/,
      /^unified\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/generations\/\d{16}\/[\w-]+\.json$/,
      /^unified\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/(?:chunks\/[0-9a-f]{64}\.json|journal\/\d{16}\.jsonl)$/,
    ],
  },
  vocabulary,
  usage,
  watching: { concerns },
}
