/** Where Continue keeps its sessions, by its variables and defaults. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  return [environment["CONTINUE_GLOBAL_DIR"] || join(home, ".continue")]
}
