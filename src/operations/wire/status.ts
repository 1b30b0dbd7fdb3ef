/** What the store holds, cheaply: counts and sizes that the engine keeps, and nothing that scans messages. */
import { type Static, Type } from "typebox"
import { VERSION } from "../../platform/host/version.ts"
import type { Sessions } from "../../sessions/store.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { knownDamage } from "../store/integrity.ts"

export const StatusOutput = closedObject({
  version: Type.String(),
  store: Type.String(),
  namespace: Type.String(),
  sessions: Type.Integer(),
  messages: Type.Integer(),
  parts: Type.Integer(),
  blobs: Type.Integer(),
  by_agent: Type.Array(closedObject({ source_agent: Type.String(), sessions: Type.Integer() }), {
    description: "Sessions by client and kind of sub-agent, largest first.",
  }),
  bytes: Type.Union([closedObject({ live: Type.Integer(), dead: Type.Integer() }), Type.Null()], {
    description: "Bytes used by current and by old versions. Null for an object store.",
  }),
  damage: Type.Array(closedObject({ table: Type.String(), lost_rows: Type.Integer(), message: Type.String() }), {
    description: "Tables that are not intact: every answer lacks their rows until `pond repair`.",
  }),
  indexes: Type.Array(
    closedObject({ table: Type.String(), name: Type.String(), rows: Type.Integer(), waiting: Type.Integer() }),
    { description: "Each index, with the number of rows indexed and not yet indexed." },
  ),
})
export type StatusOutput = Static<typeof StatusOutput>

export const status = defineOperation({
  name: "status",
  summary: "Show what the store contains.",
  input: closedObject({}),
  output: StatusOutput,
  errors: [],
  surfaces: { http: true, mcp: "stats://pond" },
  read: true,
  run: async ({ pond }) => {
    const sessions = await pond.sessions()
    const [counts, by_agent, facts, damage] = await Promise.all([
      sessions.counts(),
      sessions.countsByAgent(),
      sessions.statistics(),
      knownDamage(sessions),
    ])
    return {
      version: VERSION,
      store: sessions.store.location.shown,
      namespace: pond.namespace(),
      ...counts,
      by_agent: [...by_agent],
      bytes: storeBytes(facts),
      damage: [...damage],
      indexes: facts.flatMap(({ table, indexes }) =>
        indexes.map(({ name, indexedRows, unindexedRows }) => ({
          table,
          name,
          rows: indexedRows,
          waiting: unindexedRows,
        })),
      ),
    }
  },
})

function storeBytes(facts: Awaited<ReturnType<Sessions["statistics"]>>): StatusOutput["bytes"] {
  const known = facts.flatMap(({ bytes }) => bytes ?? [])
  if (known.length < facts.length) return null
  return known.reduce((sum, { live, dead }) => ({ live: sum.live + live, dead: sum.dead + dead }), { live: 0, dead: 0 })
}
