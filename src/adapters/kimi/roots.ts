/** Where Kimi keeps its sessions, by its variables and defaults. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  return [
    environment["KIMI_CODE_HOME"] || join(home, ".kimi-code"),
    environment["KIMI_SHARE_DIR"] || join(home, ".kimi"),
  ]
}
