/** Databases of older versions lack columns that a new one has: a restore writes today's, and every value is in it. */
import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures/opencode")
const TABLES = ["project", "session", "message", "part", "todo"]

test.each(["first-database", "before-events"])(
  "a session of %s is restored whole into a new database",
  async (fixture) => {
    using home = temporaryHome()
    const root = join(FIXTURES, fixture, "root")
    const target = join(home.path, "target")
    expect(await runPond(["sync", "opencode", "--path", root, "--only", "import"], home)).toMatchObject({ exitCode: 0 })
    using before = new Database(join(root, "opencode.db"), { readonly: true })
    const { id } = before.query("SELECT id FROM session").get() as { readonly id: string }
    expect(await runPond(["restore", id, "--root", target], home)).toMatchObject({ exitCode: 0, stderr: "" })
    using after = new Database(join(target, "opencode.db"), { readonly: true })
    for (const table of TABLES) {
      const rows = before.query(`SELECT * FROM ${table}`).all() as readonly object[]
      expect(rows.length).toBeGreaterThan(0)
      expect(after.query(`SELECT * FROM ${table}`).all()).toEqual(rows.map((row) => expect.objectContaining(row)))
    }
  },
  120_000,
)
