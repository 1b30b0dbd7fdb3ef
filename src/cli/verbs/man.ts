/** `pond man`: the manual page in roff, made from the same tables as the help. */

import { NO_FLAGS } from "../flags.ts"
import { renderManual } from "../help/manual.ts"
import { defineVerb } from "../verb.ts"

export const man = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["man | man -l -", "man > ~/.local/share/man/man1/pond.1"],
  run: async ({ verbs }) => {
    const loaded = await Promise.all(verbs.map(async (row) => ({ row, verb: await row.load() })))
    const text = renderManual(loaded)
    return { document: { name: "pond.1", text }, render: () => text }
  },
})
