/**
 * Writes rows into a database and is killed before one of its steps: every statement, every row, the commit, the close.
 * `dies-writing.ts PATH STEP ROWS [BACKUP]`, ROWS being JSON. Not killed, it says how many steps there were. Started by
 * `foreign-sqlite-crash.test.ts`.
 */
import { Database, type Statement } from "bun:sqlite"
import { writeForeignRows } from "../../src/platform/files/foreign-sqlite-writer.ts"

const [path = "", diesBefore = "0", rows = "", backup] = process.argv.slice(2)
let steps = 0

function step(): void {
  if (++steps !== Number(diesBefore)) return
  process.kill(process.pid, "SIGKILL")
  // Nothing more may happen, however long the signal takes.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

type Act = (this: unknown, ...args: unknown[]) => unknown

/** The same act, as a step. */
function mortal(act: Act): Act {
  return function (this: unknown, ...args) {
    step()
    return act.apply(this, args)
  }
}

const wounded = new WeakSet<Statement>()

/** A statement that was made before is the same one. */
function mortalStatement(statement: Statement): Statement {
  if (wounded.has(statement)) return statement
  wounded.add(statement)
  for (const name of ["run", "get", "all", "values"] as const)
    Object.defineProperty(statement, name, { value: mortal(statement[name] as Act) })
  return statement
}

const { run, close, prepare, query } = Database.prototype
Object.assign(Database.prototype, {
  run: mortal(run as Act),
  close: mortal(close as Act),
  prepare(this: Database, ...args: Parameters<typeof prepare>) {
    return mortalStatement(prepare.apply(this, args))
  },
  query(this: Database, ...args: Parameters<typeof query>) {
    return mortalStatement(query.apply(this, args))
  },
})

writeForeignRows(path, JSON.parse(rows), backup === undefined ? {} : { replaceWithBackup: backup })
// The step after the last: what is left to do is to name the database, in one step of the disk.
process.stdout.write(String(steps))
