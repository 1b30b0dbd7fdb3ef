/** The Gemini app: its activity, from Google Takeout. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { source } from "./source.ts"

export const geminiApp: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "2026", to: "2026" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:\.\d{1,3})?$/,
    relativePaths: [/^conversations\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:\.\d{1,3})?\.json$/],
  },
}
