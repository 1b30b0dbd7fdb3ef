/**
 * The machine pond runs on, as everything above sees it: environment, time, chance, log, places and settings.
 * Passed in whole, so that a test can be another machine. Nothing is read before it is asked for.
 */

import type { SettingFlags, Settings } from "../config/config.ts"
import { lazy } from "../lazy.ts"
import type { Clock } from "./clock.ts"
import type { Environment } from "./environment.ts"
import type { Log } from "./log.ts"
import { type Place, placePath } from "./paths.ts"
import type { Random } from "./random.ts"

/**
 * Whether the process answers one command and ends, or goes on answering. A server loads and compiles what pays off from
 * the second request on; a command does not.
 */
export type Lifetime = "command" | "server"

export interface Host {
  readonly lifetime: Lifetime
  readonly environment: Environment
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** The directory of a place. It need not exist: `ensureWritable` makes it. */
  path(place: Place): string
  /** Read at the first call; throws `validation_failed` where the config is wrong. */
  settings(): Settings
}

export interface HostParts {
  readonly lifetime: Lifetime
  readonly environment: Environment
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flags: SettingFlags
}

export function createHost({ flags, ...parts }: HostParts): Host {
  return {
    ...parts,
    path: (place) => placePath(parts.environment, place),
    settings: lazy(() => configReader().readSettings(parts.environment, flags)),
  }
}

/** Loads TypeBox late: it is most of the start-up cost, and help, the version and a mistyped flag do not need it. */
function configReader(): typeof import("../config/config.ts") {
  return require("../config/config.ts")
}
