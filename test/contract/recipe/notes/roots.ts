/** Where this client keeps its logs, by its variables and defaults. */
import { join } from "node:path"
import type { Environment } from "../../../../src/platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  return [environment["NOTES_HOME"] ?? join(home, ".notes")]
}
