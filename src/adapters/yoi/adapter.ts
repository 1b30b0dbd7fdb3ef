/** yoi: segments of its sessions, of the command line, the runtime and the flat logs of before. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { BRAND, parse } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { concerns, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

const UUID = "[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}"

export const yoi: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "source only", from: "0.1.0", to: "0.1.0" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: new RegExp(`^${UUID}$`),
    relativePaths: [
      new RegExp(`^sessions/(?:${UUID}/)?${UUID}(?:\\.trace)?\\.jsonl$`),
      new RegExp(`^runtime/workers/${UUID}/session/segments/${UUID}(?:\\.trace)?\\.jsonl$`),
      new RegExp(`^(?:workers/[\\w-]{1,80}|runtime/workers/${UUID})/metadata\\.json$`),
    ],
  },
  vocabulary,
  usage,
  watching: { concerns },
}
