/** Trajectories of agents in the Agent Trajectory Interchange Format. */
import type { Adapter } from "../adapter.ts"
import { stepsUsage } from "../shared/step-usage.ts"
import { context } from "./context.ts"
import { BRAND, trajectory } from "./parse.ts"
import { serialize } from "./serialize.ts"
import { source } from "./source.ts"

export const atif: Adapter = {
  id: BRAND.id,
  title: BRAND.title,
  judged: { by: "samples", from: "1.3", to: "1.8" },
  source,
  parse: trajectory.parse,
  context,
  serialize,
  output: {
    sessionIds: /^trajectory-[\da-f]{4,32}$|^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/,
    relativePaths: [/^(?:[\w-]{1,60}\/){0,3}(?:trajectory|[\w-]{1,80}\.(?:trajectory|atif))\.json$/],
  },
  usage: stepsUsage,
}
