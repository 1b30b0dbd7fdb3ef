/** What an agent reads on demand, so that the descriptions of the tools stay short. */
import { PondError } from "../model/errors.ts"
import { perform, type RunContext } from "../operations/operation.ts"
import { EXPORT_MIMES, storedExport } from "../operations/sql/exports.ts"
import { FOUND_COLUMNS, QUERY_TABLES, type QueryColumn } from "../operations/sql/query-tables.ts"
import { FOUND_LIMIT } from "../operations/sql/sources.ts"
import { sql } from "../operations/sql/sql.ts"
import { type StatusOutput, status } from "../operations/wire/status.ts"
import { type Tool, toolName } from "./tool.ts"
import { TOOLS } from "./tools.ts"

interface Resource {
  readonly uri: string
  readonly name: string
  readonly mimeType: string
  readonly read: (context: RunContext) => Promise<string>
}

/** A message of the protocol is held in memory whole, on both sides. */
const EXPORT_BYTES_MAX = 32 * 1024 * 1024

function searchAndGetSchema(): string {
  return `${TOOLS.filter(({ operation }) => operation !== sql)
    .map((tool) => `${toolName(tool)}\n${argumentLines(tool)}`)
    .join("\n")}
${ANSWERS}`
}

/** One line for each argument, with the words of the tool itself. */
function argumentLines({ input }: Tool): string {
  const { properties } = input as unknown as { readonly properties: Record<string, { readonly description: string }> }
  return Object.entries(properties)
    .map(([name, { description }]) => `  ${name.padEnd(NAME_WIDTH)}${description}\n`)
    .join("")
}

const NAME_WIDTH = 23

const ANSWERS = `pond_search answers with totals and what was not searched; sessions in the order of their best hit, at most three hits each; each
hit in a window around the match; how many newer messages its session has; a cursor if there is more. Scores are normalised
within one answer. pond_get answers with pages that end between messages; the footer says how many are left and the after_id
to continue with.
`

export const RESOURCES: readonly Resource[] = [
  {
    uri: "schema://pond",
    name: "pond search and get: arguments and answers",
    mimeType: "text/plain",
    read: () => Promise.resolve(searchAndGetSchema()),
  },
  {
    uri: "schema://pond-sql",
    name: "pond sql: tables, functions, examples",
    mimeType: "text/plain",
    read: () => Promise.resolve(sqlSchema()),
  },
  {
    uri: "stats://pond",
    name: "what the store contains",
    mimeType: "application/json",
    read: async (context) => JSON.stringify(statsOf(await perform(status, context, {}))),
  },
]

/** Also under the names that readers of this resource have known longer. */
function statsOf({ vectors, ...stored }: StatusOutput) {
  const { sessions, messages, parts } = stored
  const corpus = { sessions, messages, searchable_messages: vectors?.searchable_total, parts }
  return { ...stored, corpus, embeddings: vectors ?? null }
}

type Contents = { uri: string; mimeType: string } & ({ text: string } | { blob: string })

const EXPORTS = "pond-sql-export://"

/** Clients ask for templates at the start, and some take the answer "no such method" for a broken server. */
export const TEMPLATES = [{ uriTemplate: `${EXPORTS}{id}`, name: "rows exported by pond_sql_query" }] as const

export async function readResource(context: RunContext, uri: string): Promise<Contents> {
  if (uri.startsWith(EXPORTS)) return await readExport(context, uri)
  const resource = RESOURCES.find((each) => each.uri === uri)
  if (resource === undefined) {
    throw new PondError(
      "not_found",
      `No resource ${JSON.stringify(uri)}. Resources: ${RESOURCES.map((each) => each.uri).join(", ")}.`,
    )
  }
  return { uri, mimeType: resource.mimeType, text: await resource.read(context) }
}

async function readExport({ pond }: RunContext, uri: string): Promise<Contents> {
  const { path, format, bytes } = storedExport(pond.host, uri.slice(EXPORTS.length))
  if (bytes > EXPORT_BYTES_MAX) {
    throw new PondError(
      "validation_failed",
      `The export has ${bytes} bytes, too many for one message. Read it on the machine that wrote it: ${path}`,
      { details: { bytes, bytes_max: EXPORT_BYTES_MAX, path } },
    )
  }
  const file = Bun.file(path)
  const of = { uri, mimeType: EXPORT_MIMES[format] }
  return format === "parquet" ? { ...of, blob: (await file.bytes()).toBase64() } : { ...of, text: await file.text() }
}

// --- What a query can ask ----------------------------------------------------------------------------------------------

const TYPES: Readonly<Record<string, string>> = {
  utf8: "text",
  int32: "int",
  int64: "bigint",
  float64: "double",
  bool: "bool",
  timestamp_us: "timestamptz",
}

function sqlSchema(): string {
  const tables = QUERY_TABLES.map(({ name, columns }) => `- ${name}(${columns.map(columnText).join(", ")})`)
  return `pond_sql_query runs one SELECT (or WITH … SELECT) of DuckDB's SQL, read-only, without files, network and settings.
Only the columns and rows that the query needs are read from the store: name columns, and filter.

Tables
${tables.join("\n")}

fts('messages', 'words') is a table: the ${FOUND_LIMIT} messages at most that the words find, best score first when ordered by it:
  (${FOUND_COLUMNS.slice(2).map(columnText).join(", ")})

Keys: messages.session_id = sessions.id; parts.session_id = messages.session_id AND parts.message_id = messages.id.
role is user, assistant, system or tool. lane is main, subagent, title (a record of a title) or replay (a copy of what another
session holds: leave it out when you count). superseded: the client
appended the message again later, with more in it; leave it out, too. search_text is what was said in a message; parts.text the main text of a part; parts.type is text, reasoning,
tool_call, tool_result, file and others, with tool_name, call_id and is_failure. Sub-agents are sessions whose source_agent has
a slash. Times are UTC.

Applied where rows are read, so fast: =, <>, <, <=, >, >=, BETWEEN, IN, IS NULL, LIKE 'x%', '%x' and '%x%' on columns, joined by
AND and OR; ORDER BY columns with LIMIT; joins on keys with few values on one side. Indexed: messages.session_id, id, timestamp,
project, source_agent, role, lane; parts.session_id, type; sessions.id.

JSON (options, variant_data): (variant_data->>'$.params.command') = 'ls' with the parentheses, because ->> binds weaker than AND
and NOT; json_extract_string(variant_data, '$.a'), json_array_length, json_keys; json_get_string, json_get_int and json_get_bool(column, '$.path'); json_array_contains(column, '$.path', value).
Time: now(), date_trunc('day', timestamp), INTERVAL '7 days', strftime(timestamp, '%Y-%m'), date_part('hour', timestamp).
Aggregates: count, sum, avg, min, max, median, quantile_cont, approx_count_distinct, mode, string_agg, array_agg, arg_max.
Windows: row_number, rank, lag, lead, first_value … OVER (PARTITION BY … ORDER BY …); QUALIFY.
Text: lower, upper, length, substr, split_part, string_split, regexp_matches, regexp_extract, replace, contains, starts_with.
In a FROM also: range, generate_series, unnest, json_each, json_tree.

Output: table and json show up to limit rows (100, at most 1000); ndjson, csv and parquet write all rows to a file that is kept for
a day and read by resources/read of its pond-sql-export:// link.
Beside SELECT: SHOW TABLES, DESCRIBE messages, DESCRIBE SELECT …; EXPLAIN SELECT … shows what would be read of the store and the
engine's plan, EXPLAIN ANALYZE SELECT … runs it and shows times.
A query is stopped after timeout_ms (30000, at most 240000) or where it needs too much memory, and says so.

Examples
  SELECT date_trunc('day', timestamp) AS day, count(*) FROM messages WHERE lane = 'main' GROUP BY day ORDER BY day DESC
  SELECT tool_name, count(*) AS calls, count(*) FILTER (WHERE is_failure) AS failed FROM parts
    WHERE type = 'tool_result' GROUP BY tool_name ORDER BY calls DESC
  SELECT f.id, f.score, p.text FROM fts('messages', 'login token') f
    JOIN parts p ON p.session_id = f.session_id AND p.message_id = f.id WHERE p.type = 'text' ORDER BY f.score DESC LIMIT 5
  SELECT id, timestamp FROM messages WHERE (timestamp, id) < (TIMESTAMPTZ '2026-01-31 12:00:00Z', 'last-id')
    ORDER BY timestamp DESC, id DESC LIMIT 100
  WITH longest AS (SELECT session_id, count(*) AS said FROM messages WHERE lane = 'main' GROUP BY session_id ORDER BY said DESC LIMIT 10)
    SELECT l.session_id, l.said, s.project, s.title FROM longest l JOIN sessions s ON s.id = l.session_id ORDER BY l.said DESC
  SELECT m.timestamp, m.project, p.tool_name, left(p.text, 200) FROM parts p
    JOIN messages m ON m.session_id = p.session_id AND m.id = p.message_id JOIN sessions s ON s.id = m.session_id
    WHERE p.is_failure AND s.source_agent = 'claude-code' ORDER BY m.timestamp DESC LIMIT 20
  EXPLAIN SELECT count(*) FROM parts WHERE (variant_data->>'$.params.command') LIKE '%git%'
  DESCRIBE messages
`
}

function columnText({ name, kind }: QueryColumn): string {
  return `${name} ${TYPES[kind] ?? kind}`
}
