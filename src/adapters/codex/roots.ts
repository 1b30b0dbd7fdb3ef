/** Where Codex keeps its sessions, by its variables and defaults. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const chosen = environment["CODEX_HOME"]
  return [...new Set([...(chosen ? [chosen] : []), join(home, ".codex")])]
}

/** What the command line of Trae keeps, beside the settings of the editor. */
export function traeRoots(_: Environment, home: string): readonly string[] {
  return [join(home, ".trae", "cli")]
}
