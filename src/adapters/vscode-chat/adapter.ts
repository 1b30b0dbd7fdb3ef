/** The chats of Visual Studio Code and of the editors that were made of it, which Copilot answers. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND } from "./documents.ts"
import { parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { assemble, concerns, source } from "./source.ts"
import { vocabulary } from "./vocabulary.ts"

export const vscodeChat: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "1.93", to: "1.109" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i,
    relativePaths: [
      /^workspaceStorage\/(?:[\da-f]{32}|no-workspace)\/(?:chatSessions\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.jsonl?|workspace\.json)$/,
      /^globalStorage\/(?:emptyWindowChatSessions|transferredChatSessions)\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.jsonl?$/,
    ],
  },
  vocabulary,
  assemble,
  watching: { concerns },
}
