/** `pond upgrade`: whether there is a newer release, and the commands that install it here. It changes nothing. */
import { upgrade as operation } from "../../operations/machine/setup-operations.ts"
import { perform } from "../../operations/operation.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { defineVerb } from "../verb.ts"

const args = argumentsFor(operation.input, { check: {}, from: { hint: "URL" } })

export const upgrade = defineVerb({
  flags: args.flags,
  positionals: [],
  examples: ["upgrade", "upgrade --check", "upgrade --check --from /mnt/releases"],
  run: async (context) => {
    const { pond, flags, signal } = context
    const report = await perform(operation, { pond, signal }, args.inputOf(context))
    const { version, latest, newer, commands, page } = report
    return {
      document: { ...report },
      render: ({ style }) => {
        if (!newer) return `pond ${version} is the latest release.\n`
        const head = `pond ${latest} is available; this is ${version}.`
        if (flags.check) return `${head} \`pond upgrade\` shows how to install it.\n`
        const shown = commands.length > 0 ? commands : [page ?? "See the page of the project."]
        return `${head} To install it:\n${shown.map((line) => `  ${style.bold(line)}\n`).join("")}Stored sessions are kept.\n`
      },
    }
  },
})
