/**
 * A log that does not say where its session is gives the session the name of the place that it lies in, and that is what it
 * is called for good: the project stands in every row. Once the log says it, the same session comes under another project.
 * It is the same one where it comes from the same place, and what is stored is a name of that place: then its new rows join
 * those that are there, under the name that they have.
 */
import { isJsonObject, type JsonValue, parseOwnJson } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import { fillColumns } from "../../substrate/columns/column-batch.ts"
import { isIn } from "../../substrate/filter.ts"
import type { Table } from "../../substrate/table.ts"
import { MESSAGES, PARTS, type SESSIONS } from "../tables.ts"
import type { PreparedBatch } from "./prepare.ts"

export async function keepStoredProjects(
  sessions: Table<(typeof SESSIONS)["columns"]>,
  batches: readonly PreparedBatch[],
  stored: ReadonlyMap<string, Pick<Session, "source_agent" | "project">>,
): Promise<readonly PreparedBatch[]> {
  const doubtful = batches.filter(({ session }) => {
    const before = stored.get(session.id)
    return before?.source_agent === session.source_agent && before.project !== session.project
  })
  if (doubtful.length === 0) return batches
  const ids = [...new Set(doubtful.map(({ session }) => session.id))]
  const rows = await sessions.read({ columns: ["id", "project", "options"], where: isIn("id", ids) })
  const provisional = new Map(rows.map(({ id, project, options }) => [id, { project, place: placeIn(options) }]))
  const isOfOneLog = new Set(
    doubtful.filter(({ session }) => {
      const { project, place } = provisional.get(session.id) ?? {}
      return place !== undefined && place === sourcePathOf(session.options) && `/${place}/`.includes(`/${project}/`)
    }),
  )
  return batches.map((batch) => {
    const project = isOfOneLog.has(batch) ? provisional.get(batch.session.id)?.project : undefined
    return project === undefined ? batch : withProject(batch, project)
  })
}

function withProject(batch: PreparedBatch, project: string): PreparedBatch {
  return {
    ...batch,
    session: { ...batch.session, project },
    messages: fillColumns(MESSAGES, batch.messages, { project }),
    parts: fillColumns(PARTS, batch.parts, { project }),
  }
}

/** Where the log of a session lies, below the root of its client. One whose options are too large for their column has none here. */
function placeIn(options: string): string | undefined {
  const parsed = parseOwnJson(options)
  return parsed.ok ? sourcePathOf(parsed.value) : undefined
}

function sourcePathOf(options: unknown): string | undefined {
  const source = isJsonObject(options as JsonValue) ? (options as { source?: JsonValue }).source : undefined
  const file = isJsonObject(source) ? source["file"] : undefined
  return typeof file === "string" ? file : undefined
}
