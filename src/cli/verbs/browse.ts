/** `pond browse`: the sessions on a whole screen, to filter, read, search in and resume without leaving it. */
import { PondError } from "../../model/errors.ts"
import type { RestoreOptions } from "../../operations/machine/restore.ts"
import { sessions as operation } from "../../operations/wire/sessions.ts"
import { createBrowser } from "../browse/browser.ts"
import { sessionSource } from "../browse/session-source.ts"
import type { Wish } from "../browse/view.ts"
import { flag } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { here } from "../project-flag.ts"
import { SESSION_FILTERS } from "../session-filters.ts"
import { defineVerb, type VerbContext } from "../verb.ts"
import { continueSession } from "./continue-session.ts"

const args = argumentsFor(operation.input, {
  ...SESSION_FILTERS,
  "include-subagents": { field: ["filters", "include_subagents"] },
  here: flag.onOff("Only sessions of the repository or directory you are in."),
})

type BrowseContext = VerbContext<typeof args.flags>

export const browse = defineVerb({
  flags: args.flags,
  positionals: [{ name: "words", summary: "Words to filter the list by.", count: "many" }],
  examples: [
    "browse",
    "browse login bug",
    "browse --here",
    'browse --agent codex --from "last week"',
    "browse --starred",
  ],
  run: async (context) => {
    const { pond, flags, words, openScreen, signal, page, onEnd } = context
    const asked = {
      ...(args.inputOf(context)["filters"] as object | undefined),
      ...(flags.here ? { project: here() } : {}),
    }
    if (openScreen === undefined)
      throw new PondError("validation_failed", "pond browse needs a terminal. `pond list` prints sessions.")
    const filters = Object.keys(asked).length === 0 ? undefined : asked
    const source = await sessionSource({ pond, signal, page }, filters)
    if (source === undefined) {
      const empty = filters === undefined ? "The store is empty." : "No session matches."
      throw new PondError("not_found", `${empty} \`pond sync\` stores new sessions.`)
    }
    const browser = createBrowser({
      open: openScreen,
      source,
      prompt: "Sessions",
      query: words.join(" "),
      enter: "read",
    })
    onEnd(browser.close)
    let message: string | undefined
    for (;;) {
      const wish = await browser.show(message)
      if (wish === undefined) return { exitCode: 0 }
      message = await resumeAndReturn(context, wish)
    }
  },
})

/** What went wrong; nothing where the client ran. */
async function resumeAndReturn(context: BrowseContext, { id, to }: Wish): Promise<string | undefined> {
  const options: RestoreOptions = {
    ...{ sessionId: id, to, root: undefined, cwd: undefined },
    ...{ reasoning: "text", isForced: false, isAnew: false },
  }
  try {
    await continueSession({ ...context, isSure: false, isLast: false }, options)
    return undefined
  } catch (error) {
    if (error instanceof PondError && !context.signal.aborted) return error.message
    throw error
  }
}
