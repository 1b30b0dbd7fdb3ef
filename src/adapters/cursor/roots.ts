/** Where Cursor keeps its sessions, by its variables and defaults. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"
import { configFolders } from "../shared/editors.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const [usual = "", ...others] = configFolders(environment, home).map((place) => join(place, "Cursor", "User"))
  const editor = [usual, ...others].find((place) => existsSync(place)) ?? usual
  return [editor, environment["CURSOR_DATA_DIR"] || join(home, ".cursor")]
}
