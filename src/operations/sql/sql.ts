/**
 * One SELECT over the store. The statement is checked, planned over empty tables to learn what it needs, that much is read
 * from the store, and the statement runs over it in a sandbox without files, network and settings.
 */
import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"
import { type Static, Type } from "typebox"
import { PondError } from "../../model/errors.ts"
import { visible } from "../../model/visible.ts"
import { processMark } from "../../platform/process/process-mark.ts"
import { Semaphore } from "../../platform/semaphore.ts"
import { sha256Of } from "../../platform/sha256.ts"
import { closedObject, defineOperation, type RunContext } from "../operation.ts"
import { type Answer, type Cell, type Column, cellText, csvLine, jsonLine, type Row } from "./answer.ts"
import { disableOptimizers, LOCK_SETTINGS, OPTIMIZER_SETS } from "./engine/preparation.ts"
import { EXPORT_FORMATS, type ExportFormat, newExport } from "./exports.ts"
import { checkLength, checkStatement } from "./guard.ts"
import { literal } from "./literal.ts"
import { loadTables } from "./load.ts"
import { type PlannedRead, planReads } from "./plan.ts"
import { columnsOf, QUERY_TABLES } from "./query-tables.ts"
import { openSandbox, type Sandbox } from "./sandbox.ts"
import { needsTooMuchMemory, planError } from "./sql-errors.ts"
import { checkOutput, isExplained, readLines, readStatement, type Statement, statementText } from "./statement.ts"

const queries = new Semaphore(2)
const ROWS_DEFAULT = 100
const ROWS_MAX = 1000
const TIMEOUT_DEFAULT_MS = 30_000
const TIMEOUT_MAX_MS = 240_000
/** Characters of the cells of an answer that is shown. An export has no such bound. */
const SHOWN_UNITS_MAX = 1_000_000

const SqlInput = closedObject({
  sql: Type.String({
    minLength: 1,
    description:
      "One SELECT (DuckDB's SQL) over sessions, messages, parts and embeddings; fts('messages', 'words') is a table of matching messages.",
  }),
  output: Type.Optional(
    Type.Union(
      ["table", "json", ...EXPORT_FORMATS].map((format) => Type.Literal(format)),
      {
        default: "json",
        description:
          "table and json return the first rows; ndjson, csv and parquet write every row to a file and return its name.",
      },
    ),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ROWS_MAX,
      default: ROWS_DEFAULT,
      description: "Maximum number of rows for table and json. Files have no limit.",
    }),
  ),
  timeout_ms: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: TIMEOUT_MAX_MS,
      default: TIMEOUT_DEFAULT_MS,
      description: "Stop the query after this many milliseconds.",
    }),
  ),
})
export type SqlInput = Static<typeof SqlInput>

const TableReadView = closedObject({
  table: Type.String(),
  columns: Type.Array(Type.String()),
  rows: Type.Integer(),
  /** Whether the store left out rows by a condition of the query. */
  filtered: Type.Boolean(),
})

const ExportView = closedObject({
  id: Type.String(),
  uri: Type.String(),
  format: Type.String(),
  bytes: Type.Integer(),
  /** On the machine that answered. */
  path: Type.String(),
})

const SqlOutput = closedObject({
  columns: Type.Array(closedObject({ name: Type.String(), type: Type.String() })),
  /** Objects by column name. */
  rows: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
  table: Type.Optional(Type.String()),
  export: Type.Optional(ExportView),
  /** Of the rows shown, or written. */
  row_count: Type.Integer(),
  /** Whether the query has more rows than these. */
  truncated: Type.Boolean(),
  elapsed_ms: Type.Integer(),
  /** What was read of the store for it. */
  read: Type.Array(TableReadView),
  /** What a reader of the answer should know: that whole tables were read, because the query could not be planned. */
  notes: Type.Optional(Type.Array(Type.String())),
})
export type SqlOutput = Static<typeof SqlOutput>

export const sql = defineOperation({
  name: "sql",
  summary: "Run one SELECT query over the stored sessions, messages and parts.",
  input: SqlInput,
  output: SqlOutput,
  errors: [],
  surfaces: { http: true, mcp: "pond_sql_query", cli: "sql" },
  read: true,
  run: async (context, input) => {
    checkLength(input.sql)
    const timeoutMs = input.timeout_ms ?? TIMEOUT_DEFAULT_MS
    const timeout = AbortSignal.timeout(timeoutMs)
    const signal = AbortSignal.any([context.signal, timeout])
    try {
      return await queries.run(() => answer({ ...context, signal }, input), signal)
    } catch (error) {
      if (timeout.aborted || isTimeout(error)) throw tooLong(timeoutMs)
      if (context.signal.aborted) throw new PondError("interrupted", "The query was stopped.", { cause: error })
      throw error
    }
  },
})

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError"
}

function tooLong(timeoutMs: number): PondError {
  return new PondError(
    "validation_failed",
    `The query timed out after ${timeoutMs / 1000} s. Narrow it with WHERE, join on keys, or raise timeout_ms (at most ${TIMEOUT_MAX_MS}).`,
    { details: { timeout_ms: timeoutMs } },
  )
}

async function answer(context: RunContext, input: SqlInput): Promise<SqlOutput> {
  const { clock } = context.pond.host
  const startedMs = clock.monotonicMs()
  const format = EXPORT_FORMATS.find((each) => each === input.output)
  const statement = readStatement(input.sql)
  checkOutput(statement, format !== undefined)
  const target = format === undefined ? undefined : newExport(context.pond.host, format)
  const sandbox = await openSandbox(
    {
      spill: join(context.pond.host.path("cache"), "scratch", `${processMark()}${spillName(context)}`),
      output: format === "parquet" ? target?.path : undefined,
      nowMicros: BigInt(Math.trunc(clock.nowMs())) * 1000n,
      timeoutMs: input.timeout_ms ?? TIMEOUT_DEFAULT_MS,
    },
    context.signal,
  )
  try {
    const { reads, notes } = await planStatement(sandbox, statement.sql)
    const isRun = statement.kind === "rows" || statement.kind === "analyze"
    const read = isRun ? await loadTables({ ...context, sandbox, sessions: await context.pond.sessions() }, reads) : []
    const made =
      format === undefined || target === undefined
        ? await shownAs(sandbox, statement, reads, input)
        : await written({ sandbox, sql: statement.sql, format, ...target })
    return {
      ...made,
      elapsed_ms: Math.round(clock.monotonicMs() - startedMs),
      read: read.map((each) => ({ ...each })),
      ...(notes.length === 0 ? {} : { notes: [...notes] }),
    }
  } catch (error) {
    if (target !== undefined) rmSync(target.path, { force: true })
    throw error
  } finally {
    await sandbox.close()
  }
}

/** One per query: an engine that begins removes what it finds in its directory. */
function spillName({ pond }: RunContext): string {
  const seed = `${process.pid} ${pond.host.clock.monotonicMs()} ${pond.host.random.next()}`
  return sha256Of(seed).slice(0, 16)
}

// --- Planning --------------------------------------------------------------------------------------------------------

const TABLES: ReadonlySet<string> = new Set(QUERY_TABLES.map(({ name }) => name))

interface Planned {
  readonly reads: readonly PlannedRead[]
  readonly notes: readonly string[]
}

async function planStatement(sandbox: Sandbox, text: string): Promise<Planned> {
  const asked = literal(text)
  const options = "skip_null := true, skip_empty := true"
  const tree = await engineJson(sandbox, `select json_serialize_sql(${asked}, ${options})`)
  if (tree === undefined) throw needsTooMuchMemory()
  if (tree["error"] === true) throw planError(tree, text)
  checkStatement(tree, TABLES)
  const { plan, notes } = await planOf(sandbox, `${asked}, ${options}`, text)
  await sandbox.run(LOCK_SETTINGS)
  return { reads: planReads(plan["plans"] as never, columnsOf), notes }
}

const READ_WHOLE =
  "The engine could not write down its plan of this query, so whole tables were read. Split it, or join fewer tables at once."

/** A plan that the engine cannot write down in any way is taken as it stands in the query: all is read then, and it is said. */
async function planOf(sandbox: Sandbox, asked: string, text: string) {
  const optimized = `select json_serialize_plan(${asked}, optimize := true)`
  for (const [at, optimizers] of OPTIMIZER_SETS.entries()) {
    if (at > 0) await sandbox.run(disableOptimizers(optimizers))
    const plan = await engineJson(sandbox, optimized)
    if (plan === undefined || plan["error"] === true) continue
    if (at > 0) await sandbox.run(disableOptimizers(OPTIMIZER_SETS[0] ?? []))
    return { plan, notes: [] }
  }
  const plan = await engineJson(sandbox, `select json_serialize_plan(${asked}, optimize := false)`)
  if (plan === undefined) throw needsTooMuchMemory()
  if (plan["error"] === true) throw planError(plan, text)
  await sandbox.run(disableOptimizers(OPTIMIZER_SETS[0] ?? []))
  return { plan, notes: [READ_WHOLE] }
}

/** A plan holds what the engine has worked out already: of `repeat('x', 1e8)` all of the text. */
const PLAN_UNITS_MAX = 8_000_000
const TEXT_OR_NO_NUMBER = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|nan|Infinity|inf)\b/g

/** The engine writes numbers into its JSON that JSON does not have. */
async function engineJson(sandbox: Sandbox, asked: string): Promise<Record<string, unknown> | undefined> {
  const text = await sandbox.text(asked, PLAN_UNITS_MAX)
  const json = text?.replace(TEXT_OR_NO_NUMBER, (found) => (found.startsWith('"') ? found : "null"))
  return json === undefined ? undefined : (JSON.parse(json) as Record<string, unknown>)
}

// --- Answers ---------------------------------------------------------------------------------------------------------

type Made = Omit<SqlOutput, "elapsed_ms" | "read">

async function shownAs(
  sandbox: Sandbox,
  statement: Statement,
  reads: readonly PlannedRead[],
  input: SqlInput,
): Promise<Made> {
  if (isExplained(statement)) return await explained(sandbox, statement, reads, input)
  return await shown(sandbox, { ...input, sql: statementText(statement) })
}

/** The engine draws its plan as a text of many lines: each is a row here, below what is read of the store. */
async function explained(
  sandbox: Sandbox,
  statement: Statement,
  reads: readonly PlannedRead[],
  { output }: SqlInput,
): Promise<Made> {
  const rows = await sandbox.rows(statementText(statement))
  const drawn = rows.flatMap((row) => String(row[1] ?? "").split("\n"))
  const lines = [...readLines(reads), ...drawn].map((line) => line.trimEnd()).filter((line) => line !== "")
  const kept = lines.slice(0, ROWS_MAX)
  const of = {
    columns: [{ name: "plan", type: "varchar" }],
    row_count: kept.length,
    truncated: kept.length < lines.length,
  }
  if (output === "table") return { ...of, table: visible(`plan\n----\n${kept.join("\n")}\n`) }
  return { ...of, rows: kept.map((plan) => ({ plan })) }
}

async function shown(sandbox: Sandbox, { sql: text, limit = ROWS_DEFAULT, output }: SqlInput): Promise<Made> {
  const result = await sandbox.stream(text)
  const rows: Row[] = []
  let units = 0
  let isTruncated = false
  for await (const row of result.rows()) {
    if (rows.length === limit || units > SHOWN_UNITS_MAX) {
      isTruncated = true
      break
    }
    units += JSON.stringify(row).length
    rows.push(row)
  }
  const { columns } = result
  const of = { columns: [...columns], row_count: rows.length, truncated: isTruncated }
  if (output === "table") return { ...of, table: textTable(columns, rows) }
  return { ...of, rows: rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null]))) }
}

interface Writing {
  readonly sandbox: Sandbox
  readonly sql: string
  readonly format: ExportFormat
  readonly id: string
  readonly path: string
}

async function written(writing: Writing): Promise<Made> {
  const { format, id, path } = writing
  const { columns, rows } = format === "parquet" ? await writeParquet(writing) : await writeText(writing)
  const view = { id, uri: `pond-sql-export://${id}`, format, bytes: statSync(path).size, path }
  return { columns: [...columns], export: view, row_count: rows, truncated: false }
}

type Written = Pick<Answer, "columns"> & { readonly rows: number }

async function writeText({ sandbox, sql: text, format, path }: Writing): Promise<Written> {
  const { columns, rows } = await sandbox.stream(text)
  const file = openSync(path, "wx", 0o600)
  try {
    let count = 0
    if (format === "csv") writeSync(file, csvLine(columns.map(({ name }) => name)))
    for await (const row of rows()) {
      writeSync(file, format === "csv" ? csvLine(row) : jsonLine(columns, row))
      count += 1
    }
    return { columns, rows: count }
  } finally {
    closeSync(file)
  }
}

/** The engine writes it itself, to the one path that it may write to. */
async function writeParquet({ sandbox, sql: text, path }: Writing): Promise<Written> {
  closeSync(openSync(path, "wx", 0o600))
  // A statement that was checked to be alone is alone here too.
  await sandbox.run(`create view answer as ${text}`)
  const described = await sandbox.stream("select * from answer limit 0")
  const count = await sandbox.value(
    `copy (select * from answer) to ${literal(path)} (format parquet, compression zstd, use_tmp_file false)`,
  )
  return { columns: described.columns, rows: Number(count) }
}

// --- Rows as text ----------------------------------------------------------------------------------------------------

// Rows as a table of text, bounded in width: for people, and for models that read one.

const WIDTH_MAX = 60

function textTable(columns: readonly Column[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((_, index) => cell(row[index] ?? null)))
  const heads = columns.map(({ name }) => oneLine(name))
  const widths = heads.map((head, index) =>
    Math.max(Bun.stringWidth(head), ...cells.map((row) => Bun.stringWidth(row[index] ?? ""))),
  )
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => text + " ".repeat(Math.max(0, (widths[index] ?? 0) - Bun.stringWidth(text))))
      .join(" | ")
      .trimEnd()
  const ruled = widths.map((width) => "-".repeat(width)).join("-+-")
  return [line(heads), ruled, ...cells.map(line)].map((text) => `${text}\n`).join("")
}

function cell(value: Cell): string {
  return value === null ? "NULL" : oneLine(cellText(value))
}

/** What a transcript holds can neither break a line nor reach a terminal as a control character. */
function oneLine(text: string): string {
  const printable = visible(text.replace(/\r\n|\r|\n/g, "\\n").replace(/\t/g, "\\t"))
  const graphemes = [...printable]
  return graphemes.length <= WIDTH_MAX ? printable : `${graphemes.slice(0, WIDTH_MAX - 1).join("")}…`
}
