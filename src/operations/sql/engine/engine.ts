/**
 * The engine of one query, in the process of that query: made empty, locked, and gone with the process. It sees no file,
 * no network and no setting. `sandbox.ts` asks, one question at a time.
 */
import type {
  DuckDBAppender,
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBResult,
  DuckDBType,
  DuckDBValue,
  Json,
} from "@duckdb/node-api"
import { ensureNative } from "../../../platform/native/native.ts"
import { answerQuestions, type Exit, limitCpu, limitMemory } from "../../../platform/process/resource-limits.ts"
import type { ColumnKind } from "../../../substrate/table-definition.ts"
import type { Column, Row } from "../answer.ts"
import { preparation } from "./preparation.ts"
import type { Answers, EngineOptions, EngineQuestion, Question } from "./questions.ts"

/**
 * What the engine counts itself, tables that were brought in too; what does not fit goes to the spill. It does not count
 * what its functions make on the way, which is why the process is bounded besides.
 */
const ENGINE_MEMORY = "128MiB"
/** Of the process, beyond what it has before the query is read. */
const PROCESS_MEMORY_BYTES = 256 * 1024 * 1024
const SPILL_MAX = "4GiB"
/** Of texts in one answer to "next", so that a chunk of long ones is never here twice. */
const ROWS_UNITS_MAX = 2_000_000

export function serveQuery(exit: Exit): void {
  let engine: Engine | undefined
  answerQuestions(async (question: Question) => {
    if (question.ask === "open") {
      engine = await openEngine(question, exit)
      return undefined
    }
    if (engine === undefined) throw new Error("The engine is not open.")
    return await engine.answer(question)
  }, exit)
}

/** The processor is bounded before the engine is loaded; the memory after, because the limit is on top of what that needs. */
async function openEngine({ spill, output, nowMicros, cpuSeconds }: EngineOptions, exit: Exit): Promise<Engine> {
  limitCpu(cpuSeconds)
  ensureNative("duckdb")
  const duck = await import("@duckdb/node-api")
  const instance = await duck.DuckDBInstance.create(":memory:", {
    memory_limit: ENGINE_MEMORY,
    max_temp_directory_size: SPILL_MAX,
    temp_directory: spill,
    threads: "2",
    preserve_insertion_order: "false",
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
  })
  const connection = await instance.connect()
  for (const statement of preparation(output, nowMicros)) await connection.run(statement)
  limitMemory(PROCESS_MEMORY_BYTES, exit)
  return new Engine(duck, connection)
}

type Duck = typeof import("@duckdb/node-api")

interface Appending {
  readonly appender: DuckDBAppender
  readonly kinds: readonly ColumnKind[]
  readonly types: readonly DuckDBType[]
}

interface Streaming {
  readonly result: DuckDBResult
  chunk: DuckDBDataChunk | undefined
  /** The next row of the chunk. */
  at: number
}

/** One query: what is appended and what is streamed at the moment. */
class Engine {
  readonly #duck: Duck
  readonly #connection: DuckDBConnection
  readonly #read: ReadCell
  #appending: Appending | undefined
  #streaming: Streaming | undefined

  constructor(duck: Duck, connection: DuckDBConnection) {
    this.#duck = duck
    this.#connection = connection
    this.#read = cellReader(duck)
  }

  async answer(question: EngineQuestion): Promise<Answers[keyof Answers]> {
    switch (question.ask) {
      case "run":
        await this.#connection.run(question.sql)
        return undefined
      case "value":
        return (await this.#rows(question.sql))[0]?.[0] ?? null
      case "text": {
        const text = String((await this.#rows(question.sql))[0]?.[0])
        return text.length > question.unitsMax ? undefined : text
      }
      case "rows":
        return await this.#rows(question.sql)
      case "append":
        this.#appending = await this.#append(question.table, question.kinds)
        return undefined
      case "chunk":
        this.#appendChunk(question)
        return undefined
      case "appended":
        this.#appending?.appender.closeSync()
        return undefined
      case "stream":
        return await this.#stream(question.sql)
      case "next":
        return await this.#next()
    }
  }

  async #rows(sql: string): Promise<Row[]> {
    return (await this.#connection.runAndReadAll(sql)).convertRows(this.#read) as Row[]
  }

  async #append(table: string, kinds: readonly ColumnKind[]): Promise<Appending> {
    const appender = await this.#connection.createAppender(table)
    return { appender, kinds, types: kinds.map((kind) => duckType(this.#duck, kind)) }
  }

  #appendChunk({ rows, columns }: Extract<EngineQuestion, { ask: "chunk" }>): void {
    if (this.#appending === undefined) throw new Error("No table is open to be filled.")
    const { appender, kinds, types } = this.#appending
    const chunk = this.#duck.DuckDBDataChunk.create(types, rows)
    for (const [index, values] of columns.entries()) {
      const isTime = kinds[index] === "timestamp_us"
      const toValue = (value: unknown) =>
        isTime && typeof value === "bigint" ? new this.#duck.DuckDBTimestampTZValue(value) : value
      chunk.setColumnValues(index, values.map(toValue) as DuckDBValue[])
    }
    appender.appendDataChunk(chunk)
    appender.flushSync()
  }

  async #stream(sql: string): Promise<readonly Column[]> {
    const result = await this.#connection.stream(sql)
    this.#streaming = { result, chunk: undefined, at: 0 }
    const types = result.columnTypes()
    return result.deduplicatedColumnNames().map((name, index) => ({ name, type: String(types[index]).toLowerCase() }))
  }

  async #next(): Promise<readonly Row[] | undefined> {
    const streaming = this.#streaming
    if (streaming === undefined) throw new Error("No answer is being read.")
    if (streaming.chunk === undefined || streaming.at >= streaming.chunk.rowCount) {
      const chunk = await streaming.result.fetchChunk()
      if (chunk === null || chunk.rowCount === 0) return undefined
      streaming.chunk = chunk
      streaming.at = 0
    }
    const rows: Row[] = []
    for (let units = 0; streaming.at < streaming.chunk.rowCount && units < ROWS_UNITS_MAX; streaming.at += 1) {
      const row = streaming.chunk.convertRowValues(streaming.at, this.#read) as Row
      for (const cell of row) units += typeof cell === "string" ? cell.length : 8
      rows.push(row)
    }
    return rows
  }
}

function duckType(duck: Duck, kind: ColumnKind): DuckDBType {
  switch (kind) {
    case "int32":
      return duck.INTEGER
    case "int64":
      return duck.BIGINT
    case "float64":
      return duck.DOUBLE
    case "bool":
      return duck.BOOLEAN
    case "timestamp_us":
      return duck.TIMESTAMPTZ
    default:
      return duck.VARCHAR
  }
}

// --- Cells -----------------------------------------------------------------------------------------------------------

// Values of the engine as values of JSON.

type ReadCell = (value: DuckDBValue, type: DuckDBType) => Json

/** Whole numbers stay numbers where a double holds them, and moments are ISO. What JSON cannot say is text. */
function cellReader(duck: typeof import("@duckdb/node-api")): ReadCell {
  const { DuckDBTypeId: Id, JsonDuckDBValueConverter } = duck
  const nested = (value: DuckDBValue, type: DuckDBType): Json => {
    if (value === null) return null
    switch (type.typeId) {
      case Id.BIGINT:
      case Id.UBIGINT:
      case Id.HUGEINT:
      case Id.UHUGEINT:
        return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
      case Id.DECIMAL: {
        const text = String(value)
        return String(Number(text)) === text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") ? Number(text) : text
      }
      case Id.TIMESTAMP_TZ:
        return isoMoment((value as { readonly micros: bigint }).micros)
      default:
        return JsonDuckDBValueConverter(value, type, nested)
    }
  }
  return nested
}

/** With the microseconds, where there are any: a moment goes back into a query as it came. */
function isoMoment(micros: bigint): Json {
  const milliseconds = Number(micros / 1000n)
  const rest = Number(((micros % 1000n) + 1000n) % 1000n)
  const floored = micros < 0n && rest > 0 ? milliseconds - 1 : milliseconds
  if (!(Math.abs(floored) <= 8.64e15)) return String(micros)
  const iso = new Date(floored).toISOString()
  return rest === 0 ? iso : iso.replace("Z", `${String(rest).padStart(3, "0")}Z`)
}
