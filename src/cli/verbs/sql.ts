/** `pond sql`: one SELECT over the store, as a table, as JSON, or as a file. */
import { chmodSync, copyFileSync, existsSync } from "node:fs"
import { PondError } from "../../model/errors.ts"
import { counted } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import { perform } from "../../operations/operation.ts"
import { sql as operation, type SqlOutput } from "../../operations/sql/sql.ts"
import { notWritable } from "../../platform/host/paths.ts"
import { flag } from "../flags.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { defineVerb, type Outcome, type Streamed, type VerbContext } from "../verb.ts"

const args = argumentsFor(
  operation.input,
  {
    format: {
      field: ["output"],
      summary: "Output format (default: table). ndjson, csv and parquet include every row.",
    },
    output: flag.text("Write the rows to this file; its extension sets the format.", "FILE", {
      short: "o",
    }),
    limit: { summary: "Maximum number of rows for table and json (default: 100)." },
    timeout: { field: ["timeout_ms"], duration: "ms", summary: "Stop the query after this time (default: 30s)." },
    force: flag.onOff("Overwrite an existing file."),
  },
  [{ field: "sql", name: "query", summary: "One SELECT query; pond help sql lists the tables." }],
)

const FILE_FORMATS = ["ndjson", "csv", "parquet"] as const
const CHUNK_BYTES = 1 << 16

export const sql = defineVerb({
  flags: args.flags,
  positionals: args.positionals,
  examples: [
    "sql 'SELECT project, count(*) FROM messages GROUP BY project ORDER BY 2 DESC'",
    "sql \"SELECT id, score FROM fts('messages', 'login token') ORDER BY score DESC LIMIT 10\"",
    "sql 'SELECT * FROM messages' -o messages.parquet",
  ],
  run: async (context) => {
    const { flags } = context
    const format = flags.format ?? endingOf(flags.output) ?? (context.isJson ? "json" : "table")
    const isFile = FILE_FORMATS.some((each) => each === format)
    if (flags.output !== undefined) checkTarget(flags.output, isFile, flags.force)
    if (format === "parquet" && flags.output === undefined) {
      throw new PondError(
        "validation_failed",
        "Parquet cannot be shown on a terminal. Write it to a file with -o FILE.",
      )
    }
    const answer = await ask(context, context.isJson && !isFile ? "json" : format)
    return answer.export === undefined ? shown(answer, format === "json") : await delivered(context, answer)
  },
})

async function ask(context: VerbContext<typeof args.flags>, output: string): Promise<SqlOutput> {
  return await perform(operation, context, { ...args.inputOf(context), output })
}

function shown(answer: SqlOutput, isJson: boolean): Outcome {
  const more = answer.truncated ? `; more rows exist: narrow the query, raise --limit, or write all with -o FILE` : ""
  return {
    document: { ...answer },
    render: ({ style }) =>
      isJson
        ? `${JSON.stringify(answer.rows, null, 2)}\n`
        : `${answer.table ?? ""}${style.dim(`${counted(answer.row_count, "row")} in ${answer.elapsed_ms} ms${more}`)}\n${(answer.notes ?? []).map((note) => `${note}\n`).join("")}`,
  }
}

/** The export lies in pond's cache; what was asked for is a copy of it, or its text. */
async function delivered(
  { flags, isJson, writeOut }: VerbContext<typeof args.flags>,
  answer: SqlOutput,
): Promise<Outcome | Streamed> {
  const { path = "", bytes = 0 } = answer.export ?? {}
  const target = flags.output
  if (target !== undefined) {
    copyTo(path, target)
  }
  if (target !== undefined || isJson) {
    return {
      document: { ...answer, ...(target === undefined ? {} : { file: target }) },
      render: () => `${counted(answer.row_count, "row")}, ${counted(bytes, "byte")}: ${visibleLine(target ?? path)}\n`,
    }
  }
  const decoder = new TextDecoder()
  for await (const chunk of Bun.file(path).stream()) {
    for (let at = 0; at < chunk.length; at += CHUNK_BYTES)
      writeOut(decoder.decode(chunk.subarray(at, at + CHUNK_BYTES), { stream: true }))
  }
  writeOut(decoder.decode())
  return { exitCode: 0 }
}

function copyTo(path: string, target: string): void {
  try {
    copyFileSync(path, target)
    chmodSync(target, 0o600)
  } catch (error) {
    throw notWritable(target, error)
  }
}

function endingOf(path: string | undefined): (typeof FILE_FORMATS)[number] | undefined {
  if (path === undefined) return undefined
  const ending = path.split(".").at(-1)?.toLowerCase()
  return FILE_FORMATS.find((format) => format === ending || (format === "ndjson" && ending === "jsonl"))
}

function checkTarget(path: string, isFile: boolean, isForced: boolean): void {
  if (!isFile) {
    throw new PondError("validation_failed", "A file can be ndjson, csv or parquet. Choose one with --format.", {
      details: { file: path },
    })
  }
  if (existsSync(path) && !isForced) {
    throw new PondError("would_overwrite", `${path} already exists. Choose another file, or use --force.`, {
      details: { file: path },
    })
  }
}
