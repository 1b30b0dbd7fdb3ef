/** The folders in which editors made of Visual Studio Code keep what belongs to a person: settings, storage of extensions, chats. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

const EDITORS = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Trae", "Positron", "Antigravity"]
const REMOTES = [".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server", ".vscodium-server"]

export function editorFolders(environment: Environment, home: string): string[] {
  const local = configFolders(environment, home).flatMap((place) =>
    EDITORS.map((editor) => join(place, editor, "User")),
  )
  return [...local, ...REMOTES.map((remote) => join(home, remote, "data", "User"))]
}

/** Where each system keeps the settings of programs: which of them it is shows by what is there. */
export function configFolders(environment: Environment, home: string): string[] {
  const config = environment["XDG_CONFIG_HOME"] || join(home, ".config")
  const roaming = environment["APPDATA"]
  return [config, join(home, "Library", "Application Support"), ...(roaming ? [roaming] : [])]
}
