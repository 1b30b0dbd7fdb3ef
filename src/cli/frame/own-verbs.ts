/** `pond help` and `pond version`: verbs of the command tree that help does not list, because they are about pond itself. */
import type { VerbRow } from "../verb.ts"

export const OWN_VERBS: readonly VerbRow[] = [
  {
    name: "help",
    group: "care",
    summary: "Show help for a verb or a topic.",
    load: async () => (await import("../verbs/help.ts")).help,
  },
  {
    name: "version",
    group: "care",
    summary: "Print the version.",
    load: async () => (await import("../verbs/help.ts")).version,
  },
]
