/** What an agent reads on demand, so that the descriptions of the tools stay short. */
import { PondError } from "../model/errors.ts"
import { perform, type RunContext } from "../operations/operation.ts"
import { EXPORT_MIMES, storedExport } from "../operations/sql/exports.ts"
import { status } from "../operations/wire/status.ts"
import { sqlSchema } from "./sql-schema.ts"

interface Resource {
  readonly uri: string
  readonly name: string
  readonly mimeType: string
  readonly read: (context: RunContext) => Promise<string>
}

/** A message of the protocol is held in memory whole, on both sides. */
const EXPORT_BYTES_MAX = 32 * 1024 * 1024

const SCHEMA = `pond_search
  query         words, names, a question; "double quotes" mean to the letter
  limit         sessions of the answer, 10 unless said, at most 200
  project       a part of the project's path
  session_id    one session        source_agent  one client, or one kind of its sub-agents
  role          user, assistant    from_date, to_date  days (YYYY-MM-DD), both inside
  mode          auto, words, meaning, exact, pattern        scope  conversation, tools, all
  sort          relevance, recency                          cursor the token of an earlier answer
  similar_to    a message_id whose like is looked for
The answer: totals and what was not searched; sessions in the order of their best hit, three hits each at most; each hit in a
window around the match; how many newer messages its session has; a cursor where there is more. Scores are normalised within
one answer.

pond_get
  session_id    with response_mode (conversational, complete, verbatim), session_from (start, end), limit, after_id
  message_id    with context_depth, limit (of its parts), after_id (a part), session_id_of_message where an id is ambiguous
A page ends between messages. The footer says how many are left and the after_id to go on with.
`

export const RESOURCES: readonly Resource[] = [
  {
    uri: "schema://pond",
    name: "pond search and get: arguments and answers",
    mimeType: "text/plain",
    read: () => Promise.resolve(SCHEMA),
  },
  {
    uri: "schema://pond-sql",
    name: "pond sql: tables, functions, examples",
    mimeType: "text/plain",
    read: () => Promise.resolve(sqlSchema()),
  },
  {
    uri: "stats://pond",
    name: "what the store holds",
    mimeType: "application/json",
    read: async (context) => JSON.stringify(await perform(status, context, {})),
  },
]

type Contents = { uri: string; mimeType: string } & ({ text: string } | { blob: string })

const EXPORTS = "pond-sql-export://"

/** Clients ask for templates at the start, and some take the answer "no such method" for a broken server. */
export const TEMPLATES = [{ uriTemplate: `${EXPORTS}{id}`, name: "rows that pond_sql_query exported" }] as const

export async function readResource(context: RunContext, uri: string): Promise<Contents> {
  if (uri.startsWith(EXPORTS)) return await readExport(context, uri)
  const resource = RESOURCES.find((each) => each.uri === uri)
  if (resource === undefined) {
    throw new PondError(
      "not_found",
      `There is no resource ${JSON.stringify(uri)}. There are: ${RESOURCES.map((each) => each.uri).join(", ")}.`,
    )
  }
  return { uri, mimeType: resource.mimeType, text: await resource.read(context) }
}

async function readExport({ pond }: RunContext, uri: string): Promise<Contents> {
  const { path, format, bytes } = storedExport(pond.host, uri.slice(EXPORTS.length))
  if (bytes > EXPORT_BYTES_MAX) {
    throw new PondError(
      "validation_failed",
      `The export has ${bytes} bytes, too many for one message. Read it on the machine that wrote it, as ${path}`,
      { details: { bytes, bytes_max: EXPORT_BYTES_MAX, path } },
    )
  }
  const file = Bun.file(path)
  const of = { uri, mimeType: EXPORT_MIMES[format] }
  return format === "parquet" ? { ...of, blob: (await file.bytes()).toBase64() } : { ...of, text: await file.text() }
}
