/** Where Crush keeps its sessions, by its variables and defaults. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type JsonValue, parseJson } from "../../model/json.ts"
import type { Environment } from "../../platform/host/environment.ts"
import { isSystemError } from "../../platform/system-error.ts"
import { fieldsOf } from "../source-value.ts"

/** The data folders of all projects that it knows. Without any where it would have its list. */
export function roots(environment: Environment, home: string): readonly string[] {
  const data =
    environment["CRUSH_GLOBAL_DATA"] || join(environment["XDG_DATA_HOME"] || join(home, ".local", "share"), "crush")
  const found = projectFolders(join(data, "projects.json"))
  return found.length === 0 ? [data] : found
}

function projectFolders(path: string): readonly string[] {
  try {
    const parsed = parseJson(readFileSync(path, "utf8"))
    const { projects } = fieldsOf(parsed.ok ? parsed.value : null)
    const all = (Array.isArray(projects) ? projects : []) as readonly JsonValue[]
    return all.flatMap((each) => {
      const { path: project, data_dir: folder } = fieldsOf(each)
      if (typeof folder === "string" && folder !== "") return [folder]
      return typeof project === "string" && project !== "" ? [join(project, ".crush")] : []
    })
  } catch (error) {
    if (isSystemError(error)) return []
    throw error
  }
}
