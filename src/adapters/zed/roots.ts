/** Where Zed keeps its sessions, by its variables and defaults. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"
import { configFolders } from "../shared/editors.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const data = environment["XDG_DATA_HOME"] || join(home, ".local", "share")
  const [, mac = "", roaming] = configFolders(environment, home)
  const flatpak = join(home, ".var", "app", "dev.zed.Zed", "data", "zed")
  const others = [join(mac, "Zed"), flatpak, ...(roaming ? [join(roaming, "Zed")] : [])]
  return [join(data, "zed"), ...others.filter((place) => existsSync(place))]
}
