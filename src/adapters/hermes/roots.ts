/** Where Hermes keeps its sessions, by its variables and defaults. */
import { basename, dirname, join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

/** Each profile's folder lies in it, below the installation. */
export const PROFILES = "profiles"

export function roots(environment: Environment, home: string): readonly string[] {
  const chosen = environment["HERMES_HOME"]
  if (!chosen)
    return [environment["LOCALAPPDATA"] ? join(environment["LOCALAPPDATA"], "hermes") : join(home, ".hermes")]
  // A profile's own folder: the installation has others beside it.
  return [basename(dirname(chosen)) === PROFILES ? dirname(dirname(chosen)) : chosen]
}
