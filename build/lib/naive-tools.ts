/**
 * What somebody would write in an hour instead of installing pond: every line of the logs kept as it is in one table,
 * and what it says in a full-text index, in SQLite; or the lines alone in DuckDB, which reads all of them for each query.
 * Run as a process: `import-sqlite HOME FILE`, `search-sqlite FILE WORDS`, `import-duckdb HOME FILE`, `search-duckdb FILE WORDS`.
 */
import { Database } from "bun:sqlite"
import { readFileSync } from "node:fs"

const SHOWN = 10

function* linesOf(home: string): Generator<readonly [file: string, line: string]> {
  for (const file of new Bun.Glob("**/*.jsonl").scanSync({ cwd: home, absolute: true, dot: true })) {
    if (/\/\.(?:cache|local)\//.test(file)) continue
    for (const line of readFileSync(file, "utf8").split("\n")) if (line !== "") yield [file, line]
  }
}

/** The names that clients give to what was said. */
const SAID = new Set(["text", "content"])

/** Every text that a record holds under them. */
function saidIn(value: unknown, found: string[] = []): string[] {
  if (typeof value !== "object" || value === null) return found
  for (const [key, each] of Object.entries(value)) {
    if (typeof each !== "string") saidIn(each, found)
    else if (SAID.has(key)) found.push(each)
  }
  return found
}

function importIntoSqlite(home: string, file: string): void {
  const database = new Database(file)
  database.run("pragma journal_mode = wal")
  database.run("pragma synchronous = normal")
  database.run("create table lines (id integer primary key, file text, line text)")
  database.run("create virtual table said using fts5(text, content='')")
  const keep = database.prepare("insert into lines (id, file, line) values (?, ?, ?)")
  const index = database.prepare("insert into said (rowid, text) values (?, ?)")
  let id = 0
  database.transaction(() => {
    for (const [path, line] of linesOf(home)) {
      keep.run(++id, path, line)
      const text = saidIn(JSON.parse(line)).join("\n")
      if (text !== "") index.run(id, text)
    }
  })()
  database.run("pragma wal_checkpoint(truncate)")
  database.close()
  console.log(id)
}

function searchSqlite(file: string, words: string): void {
  const database = new Database(file, { readonly: true })
  const query =
    "select lines.file, lines.line from said join lines on lines.id = said.rowid where said match ? order by rank limit ?"
  const asked = words.split(" ").map((word) => `"${word}"`)
  for (const row of database.prepare(query).values(asked.join(" or "), SHOWN)) console.log(String(row[1]).slice(0, 200))
}

async function onDuckdb(file: string): Promise<(sql: string, values?: string[]) => Promise<readonly unknown[][]>> {
  const { DuckDBInstance } = await import("@duckdb/node-api")
  const connection = await (await DuckDBInstance.create(file, { threads: "2" })).connect()
  return async (sql, values) => (await connection.runAndReadAll(sql, values)).getRows()
}

async function importIntoDuckdb(home: string, file: string): Promise<void> {
  const run = await onDuckdb(file)
  const lines =
    "columns = {'line': 'varchar'}, delim = '\\0', quote = '', escape = '', header = false, max_line_size = 200000000"
  for (const folder of [".claude", ".codex", ".pi"]) {
    const from = `read_csv('${home}/${folder}/**/*.jsonl', ${lines}, auto_detect = false, filename = true)`
    await run(
      folder === ".claude"
        ? `create table lines as select line, filename as file from ${from}`
        : `insert into lines select line, filename from ${from}`,
    )
  }
  console.log(String((await run("select count(*) from lines"))[0]?.[0]))
}

async function searchDuckdb(file: string, words: string): Promise<void> {
  const run = await onDuckdb(file)
  const asked = words.split(" ")
  const where = asked.map((_, at) => `contains(line, $${at + 1})`).join(" or ")
  for (const [line] of await run(`select line from lines where ${where} limit ${SHOWN}`, asked))
    console.log(String(line).slice(0, 200))
}

const [what, first = "", second = ""] = process.argv.slice(2)
if (what === "import-sqlite") importIntoSqlite(first, second)
else if (what === "search-sqlite") searchSqlite(first, second)
else if (what === "import-duckdb") await importIntoDuckdb(first, second)
else if (what === "search-duckdb") await searchDuckdb(first, second)
else throw new Error(`nothing is called ${what}`)
