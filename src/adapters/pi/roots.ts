/** Where pi and what is made of it keep their sessions, by their variables and defaults. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const agent = expanded(environment["PI_CODING_AGENT_DIR"], home) ?? join(home, ".pi", "agent")
  const own = expanded(environment["PI_CODING_AGENT_SESSION_DIR"], home)
  return own === undefined ? [join(agent, "sessions")] : [own, join(agent, "sessions")]
}

export function ohMyPiRoots(environment: Environment, home: string): readonly string[] {
  const folder = join(home, environment["PI_CONFIG_DIR"] || ".omp")
  const moved = environment["XDG_DATA_HOME"] ? join(environment["XDG_DATA_HOME"], "omp") : undefined
  const isMoved = moved !== undefined && existsSync(moved)
  // Where it lies by XDG, which counts once the folder is there, its agent has no folder.
  return [
    isMoved ? moved : join(folder, "agent"),
    ...profilesIn(join(folder, "profiles")).map((profile) => join(profile, "agent")),
    ...(isMoved ? profilesIn(join(moved, "profiles")) : []),
  ]
}

export function openclawRoots(environment: Environment, home: string): readonly string[] {
  const chosen = environment["OPENCLAW_STATE_DIR"]
  if (chosen) return [chosen]
  const base = environment["OPENCLAW_HOME"] || home
  const profile = environment["OPENCLAW_PROFILE"]
  const own = join(base, profile ? `.openclaw-${profile}` : ".openclaw")
  return [own, ...[".clawdbot", ".moltbot"].map((name) => join(base, name)).filter((place) => existsSync(place))]
}

function profilesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : [])).sort()
}

export function expanded(path: string | undefined, home: string): string | undefined {
  if (path === undefined || path === "") return undefined
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path
}
