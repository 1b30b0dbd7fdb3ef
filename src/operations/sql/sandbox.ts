/**
 * One process per query, killed when its caller is gone or its time is over. A query can come from a model that was talked
 * into it, and the engine's own limits do not see what its functions make: 2.3 GB and 41 s for one `strftime` under a limit
 * of 128 MB and 5 s. The kernel's limits hold for all of it, so no list of dangerous functions has to be complete.
 */
import { rmSync } from "node:fs"
import { ensureWritable } from "../../platform/host/paths.ts"
import { ProcessEnded, startLimitedProcess } from "../../platform/process/limited-process.ts"
import type { Answer, Cell, Row } from "./answer.ts"
import type { Answers, EngineOptions, Question } from "./engine/questions.ts"
import type { QueryColumn } from "./query-tables.ts"
import type { SourceRow } from "./sources.ts"
import { needsTooMuchMemory, toSqlError } from "./sql-errors.ts"

export interface Sandbox {
  run(sql: string): Promise<void>
  /** The first column of the first row. */
  value(sql: string): Promise<Cell>
  /** The same as text; nothing where it is longer than this. */
  text(sql: string, unitsMax: number): Promise<string | undefined>
  /** All rows of a short answer. */
  rows(sql: string): Promise<readonly Row[]>
  /** Rows as they come, for answers of any length. */
  stream(sql: string): Promise<Answer>
  appender(table: string, columns: readonly QueryColumn[]): Promise<Appender>
  close(): Promise<void>
}

export interface Appender {
  /** How many code units of text these rows have. */
  add(rows: readonly SourceRow[]): Promise<number>
  end(): Promise<void>
}

const CHUNK_ROWS = 2048
/** Of text on its way to the other process at once. */
const CHUNK_UNITS_MAX = 4_000_000

export type SandboxOptions = Omit<EngineOptions, "cpuSeconds"> & { readonly timeoutMs: number }

/** Twice the time, for two threads, and a second to start: the clock of this process is the one that a query meets first. */
const cpuSecondsFor = (timeoutMs: number) => Math.ceil((2 * timeoutMs) / 1000) + 1

export async function openSandbox({ timeoutMs, ...options }: SandboxOptions, signal: AbortSignal): Promise<Sandbox> {
  signal.throwIfAborted()
  ensureWritable(options.spill, "Set XDG_CACHE_HOME to move the cache.")
  const child = startLimitedProcess<Question, unknown>("sql")
  const kill = () => void child.kill()
  signal.addEventListener("abort", kill, { once: true })
  const ask = async <Asked extends Question>(question: Asked): Promise<Answers[Asked["ask"]]> => {
    try {
      return (await child.ask(question)) as Answers[Asked["ask"]]
    } catch (error) {
      throw signal.aborted ? signal.reason : toLimitError(error)
    }
  }
  const close = async () => {
    signal.removeEventListener("abort", kill)
    await child.kill()
    rmSync(options.spill, { recursive: true, force: true })
  }
  try {
    await ask({ ask: "open", ...options, cpuSeconds: cpuSecondsFor(timeoutMs) })
  } catch (error) {
    await close()
    throw error
  }
  return {
    run: async (sql) => await ask({ ask: "run", sql }),
    value: async (sql) => await ask({ ask: "value", sql }),
    text: async (sql, unitsMax) => await ask({ ask: "text", sql, unitsMax }),
    rows: async (sql) => await ask({ ask: "rows", sql }),
    stream: async (sql) => ({ columns: await ask({ ask: "stream", sql }), rows: () => streamedRows(ask) }),
    appender: async (table, columns) => {
      await ask({ ask: "append", table, kinds: columns.map(({ kind }) => kind) })
      return appenderOf(ask, columns)
    },
    close,
  }
}

type Ask = <Asked extends Question>(question: Asked) => Promise<Answers[Asked["ask"]]>

function toLimitError(error: unknown): unknown {
  if (!(error instanceof ProcessEnded)) return toSqlError(error)
  // A query that has used up its processor time is reported as timed out.
  if (error.limit === "time") return new DOMException("The query timed out.", "TimeoutError")
  return error.limit === "memory" ? needsTooMuchMemory(error) : error
}

async function* streamedRows(ask: Ask): AsyncGenerator<Row> {
  for (let rows = await ask({ ask: "next" }); rows !== undefined; rows = await ask({ ask: "next" })) yield* rows
}

function appenderOf(ask: Ask, columns: readonly QueryColumn[]): Appender {
  const send = async (rows: readonly SourceRow[]) => {
    const values = columns.map(({ name }) => rows.map((row) => row[name]))
    await ask({ ask: "chunk", rows: rows.length, columns: values })
  }
  return {
    add: async (rows) => {
      let total = 0
      let [from, units] = [0, 0]
      for (const [index, row] of rows.entries()) {
        const size = textUnits(row, columns)
        if (index > from && (index - from === CHUNK_ROWS || units + size > CHUNK_UNITS_MAX)) {
          await send(rows.slice(from, index))
          ;[from, units] = [index, 0]
        }
        units += size
        total += size
      }
      if (from < rows.length) await send(rows.slice(from))
      return total
    },
    end: async () => await ask({ ask: "appended" }),
  }
}

function textUnits(row: SourceRow, columns: readonly QueryColumn[]): number {
  let units = 0
  for (const { name } of columns) {
    const value = row[name]
    if (typeof value === "string") units += value.length
  }
  return units
}
