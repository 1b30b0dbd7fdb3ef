/** Where yoi keeps its data, by its variables and defaults. An empty variable counts as none. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const { YOI_DATA_DIR: data, YOI_HOME: own, XDG_DATA_HOME: shared } = environment
  return [data || own || join(shared || join(home, ".local", "share"), "yoi")]
}
