/** `pond completions SHELL`: a script for the shell, written from the table of verbs. */
import { completionScript, SHELLS, type Shell } from "../completion-scripts.ts"
import { NO_FLAGS } from "../flags.ts"
import { defineVerb } from "../verb.ts"

export const completions = defineVerb({
  flags: NO_FLAGS,
  positionals: [{ name: "shell", summary: "the shell to write for.", count: "one", choices: SHELLS }],
  examples: ["completions bash >> ~/.bashrc", "completions fish | source"],
  run: async ({ words: [shell], verbs }) => {
    const loaded = await Promise.all(verbs.map(async (row) => ({ row, ...(await row.load()) })))
    const script = completionScript(shell as Shell, loaded)
    return { document: { shell, script }, render: () => script }
  },
})
