/** Changes which projects are kept out of the store: one setting of the config file. */
import { PondError } from "../../model/errors.ts"
import { excludesOf } from "../../sessions/write/exclusions.ts"
import type { Pond } from "../pond.ts"
import { changeConfig } from "./config-file.ts"

const KEY = ["projects", "excluded"] as const

function excludedOf({ host }: Pond): readonly string[] {
  return host.settings().values.projects.excluded
}

export function listExcluded(pond: Pond) {
  return { file: pond.host.settings().file.path, excluded: excludedOf(pond) }
}

export async function addExcluded(pond: Pond, projects: readonly string[]) {
  const before = excludedOf(pond)
  const changed = [...new Set(projects)].filter((each) => !before.includes(each))
  const excluded = [...before, ...changed]
  if (changed.length > 0) changeConfig(pond, [{ key: KEY, value: excluded }])
  return { ...listExcluded(pond), changed, excluded, stored: await storedOf(pond, projects) }
}

export async function removeExcluded(pond: Pond, projects: readonly string[]) {
  const before = excludedOf(pond)
  const unknown = projects.find((each) => !before.includes(each))
  if (unknown !== undefined)
    throw new PondError("not_found", `${unknown} is not excluded. \`pond exclude list\` shows what is.`, {
      details: { project: unknown },
    })
  const excluded = before.filter((each) => !projects.includes(each))
  changeConfig(pond, [{ key: KEY, value: excluded }])
  // What a sync has left out meanwhile is remembered as read.
  const { store } = await pond.sessions()
  if ((await store.names()).length > 0) await store.beginGeneration()
  return { ...listExcluded(pond), changed: [...new Set(projects)], excluded }
}

async function storedOf(pond: Pond, projects: readonly string[]): Promise<string[]> {
  const excludes = excludesOf(projects)
  const found: string[] = []
  for await (const rows of (await pond.sessions()).scan("sessions", { columns: ["id", "project"] }))
    for (const { id, project } of rows) if (excludes(project)) found.push(id)
  return found
}
