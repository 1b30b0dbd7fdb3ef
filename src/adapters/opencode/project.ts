/** The project of all directories without version control, whose worktree is the root of the file system. */
import type { OutputRow } from "../adapter.ts"

export const GLOBAL = "global"

export function globalProject(createdMs: number): OutputRow {
  const empty = { vcs: null, name: null, icon_url: null, icon_url_override: null, icon_color: null }
  const times = { time_created: createdMs, time_updated: createdMs, time_initialized: null }
  return { table: "project", row: { id: GLOBAL, worktree: "/", ...empty, ...times, sandboxes: [], commands: null } }
}

/** Nothing, where the directory is one of Windows. */
export function pathBelowRoot(directory: string): string | null {
  return directory.startsWith("/") ? directory.slice(1) : null
}
