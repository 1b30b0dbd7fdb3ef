/** `pond list`: the sessions, newest first. */
import { perform } from "../../operations/operation.ts"
import { sessions as operation } from "../../operations/wire/sessions.ts"
import { flag } from "../flags.ts"
import { nextPage, rememberNextPage } from "../next-page.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { here } from "../project-flag.ts"
import { renderSessions } from "../render/session-list.ts"
import { SESSION_FILTERS } from "../session-filters.ts"
import { defineVerb, type Outcome, type VerbContext } from "../verb.ts"

const args = argumentsFor(operation.input, {
  limit: { short: "n" },
  ...SESSION_FILTERS,
  "include-subagents": { field: ["filters", "include_subagents"] },
  cursor: { hint: "TOKEN" },
  here: flag.onOff("Only sessions of the repository or directory you are in."),
  more: flag.onOff("Show the next page of the last list."),
})

export const list = defineVerb({
  flags: args.flags,
  positionals: [],
  examples: [
    "list",
    "list --here",
    "list --from yesterday",
    "list --project web --agent codex",
    "list --branch main --errors",
    "list --file src/app.ts",
    "list --starred",
    "list --more",
  ],
  run: async (context) => {
    const { pond, flags } = context
    if (flags.more) return await listSessions(context, nextPage(pond.host, "list"))
    const input = args.inputOf(context)
    const filters = { ...(input["filters"] as object | undefined), ...(flags.here ? { project: here() } : {}) }
    return await listSessions(context, { ...input, filters })
  },
})

type ListContext = Pick<VerbContext<Record<never, never>>, "pond" | "signal" | "isJson" | "page">

/** For `list`, and for `search` without anything to search for. */
export async function listSessions(
  { pond, signal, isJson, page: { columns } }: ListContext,
  input: object,
): Promise<Outcome> {
  const answer = await perform(operation, { pond, signal }, input)
  const isCut = answer.next_cursor !== undefined
  if (!isJson) rememberNextPage(pond.host, "list", { ...input }, answer.next_cursor)
  // Programs that read lines get sessions alone.
  if (!isJson && isCut && !Number.isFinite(columns)) pond.host.log.warn("More sessions match: pond list --more")
  const { clock, environment } = pond.host
  const layout = { nowMs: clock.nowMs(), home: environment["HOME"], more: "pond list --more" }
  return { document: { ...answer }, render: (page) => renderSessions(answer, { ...page, ...layout }) }
}
