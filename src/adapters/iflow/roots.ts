/** Where iFlow keeps its sessions, by its variables and defaults. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

/** No variable is known that moves it. */
export function roots(_environment: Environment, home: string): readonly string[] {
  return [join(home, ".iflow")]
}
