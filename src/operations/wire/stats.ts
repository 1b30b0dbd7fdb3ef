/** How much there is, by day, project, client, tool or model. */
import { Type } from "typebox"
import { choice, oneOf, text } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"

const STATS_BY = ["day", "project", "agent", "tool", "model"] as const

export const stats = defineOperation({
  name: "stats",
  summary: "Count sessions and messages by day, project, client, tool or model.",
  input: closedObject({
    by: choice(STATS_BY, "What to group by.", "day"),
    from: text("On or after this day: 2026-01-31, or a moment in RFC 3339."),
    to: text("On or before this day."),
  }),
  output: closedObject({
    by: oneOf(STATS_BY),
    rows: Type.Array(
      closedObject({
        key: Type.String(),
        sessions: Type.Integer(),
        count: Type.Integer({ description: "Messages; of a tool its calls, of a model the records that name it." }),
        failures: Type.Optional(Type.Integer({ description: "Of a tool: calls whose result was a failure." })),
      }),
      { description: "Days in order, everything else with the largest count first." },
    ),
    sessions: Type.Integer(),
    count: Type.Integer(),
  }),
  errors: ["interrupted"],
  surfaces: { http: true, cli: "stats" },
  read: true,
  run: async ({ pond, signal }, { by = "day", from, to }) => {
    const { rows, ...rest } = await (await import("../store/session-statistics.ts")).statsOf(
      pond,
      { by, from, to },
      signal,
    )
    return { ...rest, rows: [...rows] }
  },
})
