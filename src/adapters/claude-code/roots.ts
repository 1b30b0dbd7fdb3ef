/** Where Claude Code keeps its sessions, and the programs that have it inside, by their variables and defaults. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const chosen = environment["CLAUDE_CONFIG_DIR"]
  // Versions around 1.0.30 used the last place. What lies in either stays there when the variable is set later.
  const places = [...(chosen ? [chosen] : []), join(home, ".claude"), join(configOf(environment, home), "claude")]
  return [...new Set(places)]
}

export function xcodeRoots(_: Environment, home: string): readonly string[] {
  return [join(home, "Library/Developer/Xcode/CodingAssistant/ClaudeAgentConfig")]
}

export function desktopRoots(environment: Environment, home: string): readonly string[] {
  return desktopData(environment, home).map((data) => join(data, "local-agent-mode-sessions"))
}

/** On macOS or on Linux: where it is. Where it is nowhere, the folders that macOS gives each home tell which it would be. */
export function desktopData(environment: Environment, home: string): readonly string[] {
  const mac = join(home, "Library/Application Support/Claude")
  const linux = join(configOf(environment, home), "Claude")
  const isMac = existsSync(mac) || (!existsSync(linux) && existsSync(join(home, "Library/Application Support")))
  return [isMac ? mac : linux]
}

function configOf(environment: Environment, home: string): string {
  return environment["XDG_CONFIG_HOME"] || join(home, ".config")
}

/** Its command line, its other programs, and the editor, which has the logs of its command line in its own cache. */
export function qoderRoots(environment: Environment, home: string): readonly string[] {
  const usual = environment["QODER_CONFIG_DIR"] || join(home, ".qoder")
  const roaming = environment["APPDATA"]
  const editors = [
    configOf(environment, home),
    join(home, "Library/Application Support"),
    ...(roaming ? [roaming] : []),
  ]
  const others = [
    join(home, ".qoderwork"),
    ...editors.map((place) => join(place, "Qoder/SharedClientCache/cli/projects")),
  ]
  return [usual, ...others.filter((place) => existsSync(place))]
}
