/**
 * Where clients have sessions that keep them in the directories that they are about: in each of these that a session of any
 * client was about, and where they were looked for by name before.
 */
import type { Adapter } from "../../adapters/adapter.ts"
import type { ImportSource } from "../import.ts"
import type { SyncState } from "../state/sync-state.ts"

/** Those that are asked for already are left out. */
export function projectSources(
  adapters: readonly Adapter[],
  state: Pick<SyncState, "projects">,
  known: readonly ImportSource[],
): ImportSource[] {
  if (adapters.length === 0) return []
  const projects = state.projects()
  return adapters.flatMap((adapter) =>
    projects
      .filter((root) => adapter.source.isIn?.(root) === true)
      .filter((root) => !known.some((each) => each.adapter.id === adapter.id && each.root === root))
      .map((root) => ({ adapter, root })),
  )
}
