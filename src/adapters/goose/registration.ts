/** Goose's extensions: a key below `extensions` of `config.yaml` for each, as `goose configure` writes them. */
import { join } from "node:path"
import { isTable } from "../../platform/edit/editable.ts"
import type { Registration } from "../registration.ts"

export const registration: Registration = {
  files: (environment, home) => {
    const chosen = environment["GOOSE_PATH_ROOT"]
    const roaming = environment["APPDATA"]
    const config = environment["XDG_CONFIG_HOME"] || join(home, ".config")
    const usual = roaming ? join(roaming, "Block", "goose", "config") : join(config, "goose")
    return [{ path: join(chosen ? join(chosen, "config") : usual, "config.yaml"), form: "yaml" }]
  },
  isOnlyChanged: true,
  servers: ["extensions"],
  entry: ([cmd = "", ...args]) => ({
    ...{ enabled: true, type: "stdio", name: "pond", description: "Sessions of all agents", cmd, args },
    ...{ envs: {}, env_keys: [], timeout: 300 },
  }),
  commandOf: (entry) => {
    const { cmd, args = [] } = isTable(entry) ? entry : {}
    const words = Array.isArray(args) && args.every((word) => typeof word === "string") ? args : undefined
    return typeof cmd === "string" && words !== undefined ? [cmd, ...words] : undefined
  },
}
