/** Makes a session of Hermes one that began in an editor: `hermes-editors.ts SESSION`, in its home. */
import { Database } from "bun:sqlite"
import { join } from "node:path"

const [session = ""] = Bun.argv.slice(2)
const database = new Database(join(process.env["HOME"] ?? "", ".hermes/state.db"))
const config = "json_set(coalesce(model_config, '{}'), '$.cwd', cwd)"
database.run(`UPDATE sessions SET source = 'acp', model_config = ${config} WHERE id = ?`, [session])
database.close()
