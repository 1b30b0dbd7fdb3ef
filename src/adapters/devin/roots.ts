/** Where the command line of Devin keeps sessions. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const usual = join(environment["XDG_DATA_HOME"] || join(home, ".local", "share"), "devin")
  const mac = join(home, "Library", "Application Support", "devin")
  return existsSync(mac) ? [usual, mac] : [usual]
}
