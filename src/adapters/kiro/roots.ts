/** Where Kiro keeps its sessions, by its variables and defaults. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"
import { configFolders } from "../shared/editors.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const data = environment["XDG_DATA_HOME"] || join(home, ".local", "share")
  const mac = join(home, "Library", "Application Support")
  const places = [data, mac].flatMap((place) => ["kiro-cli", "amazon-q"].map((name) => join(place, name)))
  return [join(home, ".kiro"), ...places.filter((place) => existsSync(place))]
}

/** The storage of the extension in its editor, and since 2026 a folder of the home. */
export function ideRoots(environment: Environment, home: string): readonly string[] {
  const [usual = "", ...others] = configFolders(environment, home).map((place) =>
    join(place, "Kiro", "User", "globalStorage", "kiro.kiroagent"),
  )
  return [usual, ...[...others, join(home, ".kiro")].filter((place) => existsSync(place))]
}
