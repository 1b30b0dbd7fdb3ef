/** `pond cost`: tokens and cost, as clients recorded them. */
import { perform } from "../../operations/operation.ts"
import { cost as operation } from "../../operations/wire/cost.ts"
import { DATE_WORDS, flag } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { here } from "../project-flag.ts"
import { renderCost } from "../render/cost-table.ts"
import { SESSION_FILTERS } from "../session-filters.ts"
import { defineVerb, type Outcome, type VerbContext } from "../verb.ts"

const args = argumentsFor(operation.input, {
  by: {},
  project: SESSION_FILTERS.project,
  agent: SESSION_FILTERS.agent,
  session: { field: ["filters", "session_id"], hint: "ID", words: "sessions" },
  from: {
    ...SESSION_FILTERS.from,
    summary: `Only responses on or after this day: ${DATE_WORDS}.`,
  },
  to: { ...SESSION_FILTERS.to, summary: "Only responses on or before this day." },
  here: flag.onOff("Only sessions of the repository or directory you are in."),
  limit: { short: "n" },
})

export const cost = defineVerb({
  flags: args.flags,
  positionals: [],
  examples: [
    "cost",
    "cost --by day --from 7d",
    "cost --by project",
    "cost --by session --here",
    "cost --by subagent --json",
  ],
  run: async (context) => {
    const { flags } = context
    const input = args.inputOf(context)
    const filters = { ...(input["filters"] as object | undefined), ...(flags.here ? { project: here() } : {}) }
    return await showCost(context, { ...input, filters })
  },
})

type CostContext = Pick<VerbContext<Record<never, never>>, "pond" | "signal">

/** For `cost`, and for `stats --cost`. */
export async function showCost({ pond, signal }: CostContext, input: object): Promise<Outcome> {
  const answer = await perform(operation, { pond, signal }, input)
  return { document: { ...answer }, render: (page) => renderCost(answer, page) }
}
