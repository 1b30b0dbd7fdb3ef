/** SpecStory: what it wrote of other clients' sessions, as Markdown. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { source } from "./source.ts"

export const specstory: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "samples", from: "2.1.0", to: "2.1.0" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[\w-]{1,100}:specstory$/,
    relativePaths: [
      /^(?:(?:[\w-]{1,60}\/){0,3}\.specstory\/history\/)?(?:\d{4}-\d\d-\d\d_[\w-]{1,100}|[\w-]{1,80}\.specstory)\.md$/,
    ],
    hiddenFolder: /^(?:[\w-]{1,60}\/){0,3}\.specstory\/history\//,
  },
}
