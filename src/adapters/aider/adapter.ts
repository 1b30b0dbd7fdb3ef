/** aider: the Markdown history of each directory that it worked in. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const aider: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "client", from: "0.86.2", to: "0.86.2", packages: ["aider-chat"] },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^text-[\da-f]{16}$/,
    relativePaths: [/^\.aider\.(?:chat\.history(?:\.[\w-]{1,80})?\.md|input\.history|llm\.history)$/],
    hiddenFile: /^\.aider\.(?:chat\.history(?:\.[\w-]{1,80})?\.md|input\.history|llm\.history)$/,
  },
  vocabulary,
  usage,
  watching: { concerns },
}
