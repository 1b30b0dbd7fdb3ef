/** The folders in which editors made of Visual Studio Code keep what belongs to a person: settings, storage of extensions, chats. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

const EDITORS = [
  ...[
    "Code",
    "Code - Insiders",
    "Code - OSS",
    "VSCodium",
    "VSCodium - Insiders",
    "Cursor",
    "Windsurf",
    "Windsurf - Next",
  ],
  ...["Trae", "Trae CN", "Kiro", "Positron", "Antigravity", "Qoder"],
]
/** Servers of editors on another machine, and the one that runs in a browser. */
const REMOTES = [
  ...[".vscode-server", ".vscode-server-insiders", ".vscode-server-oss", ".vscodium-server", ".cursor-server"],
  ...[".windsurf-server", ".trae-server", ".kiro-server", ".vscode-remote", ".local/share/code-server"],
]

export function editorFolders(environment: Environment, home: string): string[] {
  const [usual = "", ...places] = configFolders(environment, home)
  const local = [usual, ...places.filter((place) => existsSync(place))].flatMap((place) =>
    EDITORS.map((editor) => join(place, editor)),
  )
  const [first = "", ...others] = [...local, ...REMOTES.map((remote) => join(home, remote, "data"))]
  return [first, ...others.filter((place) => existsSync(place))].map((place) => join(place, "User"))
}

/** Where each system keeps the settings of programs: which of them it is shows by what is there. */
export function configFolders(environment: Environment, home: string): string[] {
  const config = environment["XDG_CONFIG_HOME"] || join(home, ".config")
  const roaming = environment["APPDATA"]
  return [config, join(home, "Library", "Application Support"), ...(roaming ? [roaming] : [])]
}
