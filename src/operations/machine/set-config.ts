/** Sets one setting in pond's own `config.toml`, or removes it there, after the value was checked as a sync would check it. */
import { PondError } from "../../model/errors.ts"
import { settingOfText } from "../../platform/config/config.ts"
import { ConfigSchema, type Setting, settingsOf } from "../../platform/config/config-schema.ts"
import type { ConfigValue } from "../../platform/edit/editable.ts"
import { suggestion } from "../../platform/nearest.ts"
import type { Pond } from "../pond.ts"
import { changeConfig } from "./config-file.ts"

export interface SetConfigReport {
  readonly key: string
  readonly path: string
  readonly changed: boolean
  /** A flag or variable that counts before the file. */
  readonly overridden_by?: string
}

export function setConfig(pond: Pond, key: string, text: string | undefined): SetConfigReport {
  const setting = settingNamed(key)
  const value = text === undefined ? undefined : (settingOfText(setting, text) as ConfigValue)
  const { path, changed } = changeConfig(pond, [{ key: setting.key, value }])
  const { environment = "" } = setting
  const isOverridden = (pond.host.environment[environment] ?? "") !== ""
  return { key, path, changed, ...(isOverridden ? { overridden_by: environment } : {}) }
}

function settingNamed(key: string): Setting {
  const settings = settingsOf(ConfigSchema)
  const found = settings.find((setting) => setting.key.join(".") === key)
  if (found?.isSecret === true || key.startsWith("storage.")) {
    throw new PondError(
      "validation_failed",
      "Credentials do not belong on a command line, which a shell remembers. Add them to the config file by hand: `pond help storage`.",
      { details: { key } },
    )
  }
  if (found !== undefined) return found
  const known = settings.map((setting) => setting.key.join("."))
  throw new PondError(
    "validation_failed",
    `Unknown setting "${key}".${suggestion(key, known)} \`pond config\` lists them.`,
    {
      details: { key },
    },
  )
}
