import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { SCHEMA } from "../../../src/adapters/opencode/schema.ts"
import { COLUMNS } from "../../../src/adapters/opencode/tables.ts"
import { fixture } from "./support.ts"

/** Tables, columns, keys, foreign keys and indexes, as SQLite itself tells them. */
function shapeOf(database: Database): unknown {
  const names = database
    .query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .values()
    .flat() as string[]
  return names.map((name) => ({
    name,
    columns: database
      .query(`SELECT name, lower(type), "notnull", dflt_value, pk FROM pragma_table_info('${name}')`)
      .values(),
    owners: database.query(`SELECT "table", "from", "to", on_delete FROM pragma_foreign_key_list('${name}')`).values(),
    indexes: database
      .query(
        `SELECT name, "unique", (SELECT group_concat(name) FROM pragma_index_info(list.name)) FROM pragma_index_list('${name}') AS list ORDER BY name`,
      )
      .values(),
  }))
}

test("the database that a restore makes is the one that the client makes", () => {
  const ours = new Database(":memory:")
  for (const statement of SCHEMA.create) ours.run(statement)
  const theirs = new Database(`file://${join(fixture("tools"), "opencode.db")}?immutable=1`, 0x00000001 + 0x00000040)
  expect(shapeOf(ours)).toEqual(shapeOf(theirs))
  const migrations = (database: Database) => database.query("SELECT id FROM migration ORDER BY id").values()
  expect(migrations(ours)).toEqual(migrations(theirs))
  expect(migrations(ours).length).toBe(38)
})

test("the columns that are known are those of the client", () => {
  const ours = new Database(":memory:")
  for (const statement of SCHEMA.create) ours.run(statement)
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const there = ours.query(`SELECT name FROM pragma_table_info('${table}')`).values().flat() as string[]
    expect({ table, columns: new Set(columns) }).toEqual({ table, columns: new Set(there) })
  }
})
