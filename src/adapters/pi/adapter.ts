/** pi, versions 1 to 4 of its logs. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { directoryOf } from "./foreign.ts"
import { parse, unchangedByUpgrade } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { isDiverted, source } from "./source.ts"
import { usage } from "./usage.ts"
import { vocabulary } from "./vocabulary.ts"

export const pi: Adapter = {
  id: "pi",
  title: "pi",
  judged: { by: "client", from: "0.27.9", to: "0.87.1" },
  source,
  parse,
  context,
  serialize,
  output: {
    sessionIds: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    // Below its root lie sessions and nothing else; extensions put those of their sub-agents into folders of their own.
    relativePaths: [/^(?:[^/]+\/)*[^/]+\.jsonl$/],
  },
  vocabulary,
  models: { recordedAt: [{ role: "assistant", path: ["message", "model"] }] },
  usage,
  relocation: {
    relativePath: (path, from, to) => path.replace(`${directoryOf(from)}/`, () => `${directoryOf(to)}/`),
    isDiverted,
  },
  upgrade: { unchanged: unchangedByUpgrade },
}
