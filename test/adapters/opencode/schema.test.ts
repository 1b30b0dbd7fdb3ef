import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { KILO, OPENCODE } from "../../../src/adapters/opencode/brands.ts"

const FIXTURES = join(import.meta.dir, "../../../fixtures")

/** Tables, columns, keys, foreign keys and indexes, as SQLite itself tells them. */
function shapeOf(database: Database, without: readonly string[] = []): unknown {
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
      .values()
      .filter(([index]) => !without.includes(String(index))),
  }))
}

const BRANDS = [
  ["opencode", OPENCODE, 38, []],
  // The third of its own indexes Kilo Code makes itself where it is missing.
  ["kilo", KILO, 42, ["recall_part_search_idx"]],
] as const

test.each(BRANDS)("the database that a restore makes is the one that %s makes", (id, { schema }, changes, left) => {
  const ours = new Database(":memory:")
  for (const statement of schema.create) ours.run(statement)
  const path = join(FIXTURES, id, "tools/root", `${id}.db`)
  const theirs = new Database(`file://${path}?immutable=1`, 0x00000001 + 0x00000040)
  expect(shapeOf(ours)).toEqual(shapeOf(theirs, left))
  const migrations = (database: Database) => database.query("SELECT id FROM migration ORDER BY id").values()
  expect(migrations(ours)).toEqual(migrations(theirs))
  expect(migrations(ours).length).toBe(changes)
  expect(schema.lastMigration).toBe(String(migrations(ours).at(-1)))
})

test.each(BRANDS)("the columns that are known are those of %s", (_, { schema }) => {
  const ours = new Database(":memory:")
  for (const statement of schema.create) ours.run(statement)
  const tables = ours.query("SELECT name FROM sqlite_master WHERE type = 'table'").values().flat() as string[]
  for (const table of tables) {
    const there = ours.query(`SELECT name FROM pragma_table_info('${table}')`).values().flat() as string[]
    expect({ table, columns: schema.columnsOf(table) }).toEqual({ table, columns: there })
  }
})
