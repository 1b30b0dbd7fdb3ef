/** What the store holds, cheaply: counts and sizes that the engine keeps, and nothing that scans messages. */
import { type Static, Type } from "typebox"
import { configuredModel } from "../../embeddings/configured.ts"
import { PondError } from "../../model/errors.ts"
import { VERSION } from "../../platform/host/version.ts"
import { countEmbedded, embedCoverage } from "../../search/embed-missing.ts"
import type { Sessions } from "../../sessions/store.ts"
import { given } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import type { Pond } from "../pond.ts"
import { knownDamage } from "../store/integrity.ts"

export const StatusOutput = closedObject({
  version: Type.String(),
  store: Type.String(),
  namespace: Type.String(),
  sessions: Type.Integer(),
  messages: Type.Integer(),
  parts: Type.Integer(),
  blobs: Type.Integer(),
  /** Absent where it cannot be said: the model that is set is not known, or its length of vectors is not. */
  vectors: Type.Optional(
    closedObject({
      model: Type.Union([Type.String(), Type.Null()], { description: "Null where search is by words alone." }),
      embedded: Type.Integer({ description: "Messages with a vector of the model." }),
      searchable_total: Type.Integer({ description: "Messages that can have one." }),
      embedded_percent: Type.Integer(),
      stale_under_other_model: Type.Integer({ description: "Messages with a vector of another model: not searched." }),
    }),
  ),
  by_agent: Type.Array(closedObject({ source_agent: Type.String(), sessions: Type.Integer() }), {
    description: "Sessions by client and kind of sub-agent, largest first.",
  }),
  bytes: Type.Union([closedObject({ live: Type.Integer(), dead: Type.Integer() }), Type.Null()], {
    description: "Bytes used by current and by old versions. Null for a bucket that keeps no notes.",
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
    const [counts, by_agent, facts, damage, vectors] = await Promise.all([
      sessions.counts(),
      sessions.countsByAgent(),
      sessions.statistics(),
      knownDamage(sessions),
      vectorFacts(pond, sessions),
    ])
    return {
      version: VERSION,
      store: sessions.store.location.shown,
      namespace: pond.namespace(),
      ...counts,
      ...given("vectors", vectors),
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

async function vectorFacts(pond: Pond, sessions: Sessions): Promise<StatusOutput["vectors"]> {
  const { embeddings: settings } = pond.host.settings().values
  const [total, vectors] = await Promise.all([sessions.spoken(), countEmbedded(sessions)])
  const model = modelOrNothing(() => configuredModel(settings, pond.host.path("cache")))
  if (model === null || (model !== undefined && model.dimension === undefined)) return undefined
  const own =
    model?.dimension === undefined
      ? { embedded: 0, total }
      : await embedCoverage(sessions, model.id, model.dimension, settings.exclude_projects)
  return {
    model: model?.name ?? null,
    embedded: own.embedded,
    searchable_total: own.total,
    embedded_percent: own.total === 0 ? 100 : Math.floor((100 * own.embedded) / own.total),
    stale_under_other_model: Math.max(0, vectors - own.embedded),
  }
}

/** A model that nobody knows is told by the verbs that need one. */
function modelOrNothing<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof PondError) return null
    throw error
  }
}
