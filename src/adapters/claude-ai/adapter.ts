/** Claude.ai: the export of an account. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND } from "./documents.ts"
import { parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { source } from "./source.ts"

export const claudeAi: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "samples", from: "2025", to: "2026" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
    relativePaths: [/^conversations\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:\.\d{1,3})?\.json$/i],
  },
}
