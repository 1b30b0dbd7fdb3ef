/** pi, versions 1 to 4 of its logs: the four faces of its adapter, each in a file of its own. */
import type { Adapter } from "../adapter.ts"
import { context } from "./context.ts"
import { parse, unchangedByUpgrade } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { source } from "./source.ts"

export const pi: Adapter = {
  id: "pi",
  title: "pi",
  verified: { from: "0.27.9", to: "0.87.1" },
  source,
  parse,
  context,
  serialize,
  unchangedByUpgrade,
  modelAt: [{ role: "assistant", path: ["message", "model"] }],
}
