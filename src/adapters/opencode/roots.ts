/** Where opencode and Kilo Code keep their sessions, by their variables and defaults. */
import { isAbsolute, join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"
import type { Source } from "../adapter.ts"

/** What the places of a brand are called after. */
export interface Names {
  readonly id: string
  /** How the names of its variables begin. */
  readonly prefix: string
  /** The names of its databases: the one of releases, and those of other channels. */
  readonly databases: RegExp
}

export const OPENCODE_NAMES: Names = { id: "opencode", prefix: "OPENCODE", databases: /^opencode(?:-[\w.-]+)?\.db$/ }

export const KILO_NAMES: Names = {
  id: "kilo",
  prefix: "KILO",
  // Its first builds named a database of a channel after opencode, and it still opens one that is there.
  databases: /^(?:kilo(?:-[\w.-]+)?|opencode-[\w.-]+)\.db$/,
}

export const roots = rootsOf(OPENCODE_NAMES)
export const kiloRoots = rootsOf(KILO_NAMES)

function rootsOf({ id, prefix, databases }: Names): Source["roots"] {
  return (environment, home) => {
    const base = environment["XDG_DATA_HOME"] || join(home, ".local", "share")
    const place = join(base, id)
    const chosen = environment[`${prefix}_DB`]
    if (!chosen || chosen === ":memory:") return [place]
    const database = isAbsolute(chosen) ? chosen : join(place, chosen)
    return databases.test(database.slice(place.length + 1)) ? [place] : [place, database]
  }
}

export function isDiverted({ prefix }: Names, environment: Environment): boolean {
  return Boolean(environment[`${prefix}_DB`])
}
