/** Where Windsurf keeps chats, transcripts and the encrypted conversations of Cascade. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"
import { configFolders } from "../shared/editors.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const [usual = "", ...others] = configFolders(environment, home).flatMap((place) =>
    ["Windsurf", "Windsurf - Next"].map((name) => join(place, name, "User")),
  )
  const beside = [...others, join(home, ".windsurf"), join(home, ".codeium", "windsurf")]
  return [usual, ...beside.filter((place) => existsSync(place))]
}
