/** Trae: the chats of its editor, as far as they are not encrypted. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, chat } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { assemble, concerns, source } from "./source.ts"

export const trae: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "2025", to: "2025" },
  source,
  parse: chat.parse,
  context,
  serialize,
  output: {
    sessionIds: /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{24})$/,
    relativePaths: [/^chats\/(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{24})\.json$/],
  },
  assemble,
  watching: { concerns },
}
