/**
 * What the engine says of a query, as an error that teaches: the nearest name that there is, where the query goes wrong, and
 * which limit it met. The one file that reads the engine's prose.
 */
import { PondError } from "../../model/errors.ts"
import { nearest } from "../../platform/nearest.ts"
import { OFFERED_FUNCTIONS } from "./functions.ts"
import { FOUND_COLUMNS, QUERY_TABLES } from "./query-tables.ts"

interface Said {
  readonly error_type?: string
  readonly error_message?: string
  readonly error_subtype?: string
  readonly position?: string
  readonly name?: string
  readonly candidates?: string
}

/** The engine's own account of what is wrong with a query, as its JSON functions give it. */
export function planError(said: Said, sql: string): PondError {
  const at = placeIn(sql, said.position)
  if (said.error_subtype === "COLUMN_NOT_FOUND") return columnError(said, sql, at)
  const [first = "the query cannot be planned"] = (said.error_message ?? "").split("\n")
  if (said.error_type === "parser" || said.error_subtype === "SYNTAX_ERROR") {
    return refused(`Not valid SQL: ${sentence(first)}${at.shown}`, at.details)
  }
  if (said.error_message?.includes("Only SELECT statements")) {
    return refused("Only one SELECT (or WITH … SELECT) is allowed: no writes, no files, no settings.", at.details)
  }
  return toSqlError(new Error(said.error_message ?? first), at)
}

interface Place {
  readonly shown: string
  readonly details: Readonly<Record<string, unknown>>
}

const NOWHERE: Place = { shown: "", details: {} }

function placeIn(sql: string, position: string | undefined): Place {
  const offset = Number(position)
  if (position === undefined || !Number.isSafeInteger(offset) || offset > sql.length) return NOWHERE
  const before = sql.slice(0, offset).split("\n")
  const line = before.length
  const column = (before.at(-1)?.length ?? 0) + 1
  const around = sql.slice(offset, offset + 30).split("\n")[0] ?? ""
  const found = around === "" ? "the end" : JSON.stringify(around)
  return { shown: ` At line ${line}, column ${column}: ${found}.`, details: { line, column } }
}

function columnError({ name = "", candidates }: Said, sql: string, at: Place): PondError {
  const lower = sql.toLowerCase()
  const mentioned = QUERY_TABLES.filter((source) => lower.includes(source.name))
  const inFound = lower.includes("fts") ? [{ name: "fts('messages', …)", columns: FOUND_COLUMNS.slice(2) }] : []
  const tables = [...(mentioned.length === 0 ? QUERY_TABLES : mentioned), ...inFound]
  const columns = [...new Set(tables.flatMap((table) => table.columns.map((column) => column.name)))]
  const bare = name.split(".").at(-1) ?? name
  const near = nearest(bare, columns) ?? candidates?.split(",")[0]?.trim().split(".").at(-1)
  const meant = near === undefined ? "" : ` Did you mean ${near}?`
  const lists = tables.map((table) => `${table.name} has ${table.columns.map((column) => column.name).join(", ")}`)
  return refused(`No column "${name}".${meant}${at.shown} ${lists.join("; ")}.`, {
    ...at.details,
    column_name: name,
    ...(near === undefined ? {} : { nearest: near }),
  })
}

const TOO_MUCH_MEMORY =
  "The query needs too much memory. Narrow it with WHERE, read fewer or shorter columns, or aggregate."

export function needsTooMuchMemory(cause?: unknown): PondError {
  return refused(TOO_MUCH_MEMORY, {}, cause)
}

/** The engine's prose, and what helps. What no row names is still its word about the query, without our own paths. */
const MESSAGES: readonly (readonly [says: RegExp, helps: (said: string) => string])[] = [
  [
    /Out of Memory|bad[ _]alloc|Array buffer allocation failed|failed to allocate|could not allocate|max_temp_directory_size|temp_directory_size/i,
    () => TOO_MUCH_MEMORY,
  ],
  [
    /Permission Error|has been disabled by configuration|lock_configuration|configuration has been locked/i,
    () => "A query can only use the stored tables: no files, no network, no settings.",
  ],
  [
    // `a->>'$.b' = 'c' AND …` is read as a->>('$.b' = 'c' AND …): the arrow binds weaker than NOT, AND and comparisons of it.
    /json_extract(_string)?\(\w+, BOOLEAN\)|Could not convert string .* to BOOL when casting from source column/,
    () =>
      "-> and ->> bind weaker than AND, NOT and comparisons. Put them in parentheses: (variant_data->>'$.name') = 'Bash'.",
  ],
  [
    /a text of more than \d+ characters would be made/,
    () => "The query would create a string of more than 100,000,000 characters.",
  ],
  [
    /Scalar Function with name (\S+) does not exist/,
    (said) => {
      const name = /Function with name "?([^\s"]+)"? does not exist/.exec(said)?.[1] ?? ""
      const near = nearest(name, OFFERED_FUNCTIONS)
      return `No function ${name}().${near === undefined ? "" : ` Did you mean ${near}?`}`
    },
  ],
  [
    /Max expression depth|expression depth limit/i,
    () => "The query is nested too deeply. Use fewer levels of parentheses.",
  ],
]

export function toSqlError(thrown: unknown, at: Place = NOWHERE): PondError {
  if (thrown instanceof PondError) return thrown
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  const row = MESSAGES.find(([says]) => says.test(said))
  if (row !== undefined) return refused(row[1](said), at.details, thrown)
  const [first = ""] = said.split("\n")
  if (/INTERNAL|Fatal|FATAL/.test(first)) {
    return new PondError("internal", "The query engine failed unexpectedly. Rewrite the query.", {
      cause: thrown,
    })
  }
  return refused(`The query cannot run: ${sentence(first)}${at.shown}`, at.details, thrown)
}

function sentence(text: string): string {
  const bare = text.replace(/^(\w+ )*Error: /, "").trim()
  return /[.!?]$/.test(bare) ? bare : `${bare}.`
}

function refused(message: string, details: Readonly<Record<string, unknown>>, cause?: unknown): PondError {
  return new PondError("validation_failed", message, { details, ...(cause === undefined ? {} : { cause }) })
}
