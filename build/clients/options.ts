/** What `bun run clients` is asked: the words of its command line (what each means stands in `build/clients.ts`). */
import { parseArgs } from "node:util"

export type Options = ReturnType<typeof readOptions>

export function readOptions() {
  const { values } = parseArgs({
    options: {
      from: { type: "string" },
      to: { type: "string" },
      scenario: { type: "string" },
      native: { type: "boolean", default: false },
      foreign: { type: "boolean", default: false },
      moved: { type: "boolean", default: false },
      archived: { type: "boolean", default: false },
      fixtures: { type: "boolean", default: false },
      anew: { type: "boolean", default: false },
      twice: { type: "boolean", default: false },
      continued: { type: "boolean", default: false },
      reasoning: { type: "string", default: "text" },
      recall: { type: "boolean", default: false },
      hooks: { type: "boolean", default: false },
      registered: { type: "boolean", default: false },
      blame: { type: "boolean", default: false },
      captured: { type: "boolean", default: false },
      matrix: { type: "boolean", default: false },
      missing: { type: "boolean", default: false },
    },
  })
  return values
}
