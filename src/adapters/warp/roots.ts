/** Where Warp keeps its database, by its variables and defaults. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const state = environment["XDG_STATE_HOME"] || join(home, ".local", "state")
  const local = environment["LOCALAPPDATA"]
  const support = join("Library", "Application Support")
  const group = join(home, "Library", "Group Containers", "2BBY89MBSN.dev.warp", support)
  const others = [
    join(state, "warp-terminal-preview"),
    ...[group, join(home, support)].flatMap((place) =>
      ["Stable", "Preview"].map((channel) => join(place, `dev.warp.Warp-${channel}`)),
    ),
    ...(local ? [join(local, "warp", "Warp", "data"), join(local, "warp", "WarpPreview", "data")] : []),
  ]
  return [join(state, "warp-terminal"), ...others.filter((place) => existsSync(place))]
}
