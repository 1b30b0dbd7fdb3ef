/** Where Visual Studio Code keeps its sessions, by its variables and defaults. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"
import { editorFolders } from "../shared/editors.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const portable = environment["VSCODE_PORTABLE"]
  const [usual = "", ...others] = [
    ...(portable ? [join(portable, "user-data", "User")] : []),
    ...editorFolders(environment, home),
  ]
  return [usual, ...others.filter((place) => existsSync(place))]
}
