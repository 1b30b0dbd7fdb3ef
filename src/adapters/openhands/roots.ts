/** Where OpenHands keeps its sessions, by its variables and defaults. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const elsewhere = environment["OPENHANDS_CONVERSATIONS_DIR"]
  return [homeOf(environment, home), ...(elsewhere ? [elsewhere] : [])]
}

/** Where its settings are, too. */
export function homeOf(environment: Environment, home: string): string {
  return environment["OPENHANDS_PERSISTENCE_DIR"] || join(home, ".openhands")
}
