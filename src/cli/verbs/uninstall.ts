/** `pond uninstall`: what init made, the native libraries and the cache; the store only if asked. */
import { counted } from "../../model/numbers.ts"
import { uninstall as operation } from "../../operations/machine/setup-operations.ts"
import { perform } from "../../operations/operation.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { defineVerb } from "../verb.ts"

const args = argumentsFor(operation.input, { yes: {}, "delete-store": {}, "dry-run": {} })

const SETUP = "Removes pond from the settings of clients, the schedule, and the files of pond that are listed."
const KEEPS_STORE = `${SETUP} Stored sessions are kept; --delete-store deletes them too.`
const DELETES_STORE = `${SETUP} The store goes with them, with every session in it: this cannot be undone.`

export const uninstall = defineVerb({
  flags: args.flags,
  positionals: [],
  examples: ["uninstall", "uninstall --dry-run", "uninstall --yes --delete-store"],
  run: async (context) => {
    const { pond, flags, signal, ask, page } = context
    const confirm = async (planned: readonly string[]) =>
      (await ask?.(
        `Remove the setup of pond and ${planned.map(page.path).join(", ")}?`,
        flags["delete-store"] ? DELETES_STORE : KEEPS_STORE,
        "no",
      )) === true
    const report = await perform(operation, { pond, signal, confirm }, args.inputOf(context))
    const { removed, directories, undone } = report
    return {
      document: { ...report },
      render: ({ path, style }) => {
        const shown = directories.map((each) => `  ${path(each)}\n`).join("")
        if (!removed || undone === null)
          return `Would remove the setup of pond in clients, the schedule and:\n${shown}${style.dim("No changes made. `pond uninstall --yes` removes it.")}\n`
        const kept = flags["delete-store"] ? "" : `The store is kept in ${path(pond.host.path("data"))}.\n`
        return `Removed pond from ${counted(undone.registrations.length, "client")} and deleted:\n${shown}${kept}To finish, delete the pond executable.\n`
      },
    }
  },
})
