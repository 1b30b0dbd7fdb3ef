/** Changes pond's own `config.toml`: the asked keys and nothing else; where there is no file, one is made that explains itself. */
import { PondError } from "../../model/errors.ts"
import { ConfigSchema, type Setting, settingsOf } from "../../platform/config/config-schema.ts"
import { type ConfigValue, NotEditable } from "../../platform/edit/editable.ts"
import { removeFromToml, setInToml } from "../../platform/edit/toml-edit.ts"
import { bytesOfFile, replaceFile } from "../../platform/files/replace-file.ts"
import type { Pond } from "../pond.ts"
import { noteWritten, ownWork, takeBack } from "./journal.ts"

export interface ConfigChange {
  readonly key: readonly string[]
  /** Nothing: the key goes, and its default counts again. */
  readonly value: ConfigValue | undefined
}

export interface ChangedConfig {
  readonly path: string
  readonly made: boolean
  readonly changed: boolean
}

/** Read afterwards by the next process: what is in force in this one stays so. */
export function changeConfig(pond: Pond, changes: readonly ConfigChange[]): ChangedConfig {
  const { path } = pond.host.settings().file
  const from = bytesOfFile(path)
  const before = from === undefined ? TEMPLATE : new TextDecoder().decode(from)
  let text = before
  for (const { key, value } of changes) text = editConfig(path, text, key, value)
  const changed = from === undefined || text !== before
  if (!changed) return { path, made: false, changed }
  const own = ownWork(pond, path)
  replaceFile({ path, from, text, keepsBackup: false })
  if (from === undefined || own?.isMade === true) noteWritten(pond, path, text, true)
  return { path, made: from === undefined, changed }
}

/** Removes the file that pond made, where nobody has changed it since. */
export function takeBackConfig(pond: Pond): boolean {
  const { path } = pond.host.settings().file
  return ownWork(pond, path)?.isMade === true && takeBack(pond, path)
}

function editConfig(path: string, text: string, key: readonly string[], value: ConfigValue | undefined): string {
  try {
    return value === undefined ? removeFromToml(text, key) : setInToml(text, key, value)
  } catch (cause) {
    if (!(cause instanceof NotEditable)) throw cause
    throw new PondError(
      "validation_failed",
      `Cannot set ${key.join(".")} in ${path}: ${cause.message}. Set it by hand.`,
      {
        details: { path, key: key.join("."), reason: cause.message },
        cause,
      },
    )
  }
}

const TEMPLATE = `# Settings of pond. \`pond config\` shows the current values and where they come from.
${settingsOf(ConfigSchema).map(explained).join("")}`

function explained({ key, description, environment, default: preset }: Setting): string {
  const name = key.join(".")
  const variable = environment === undefined ? "" : ` (${environment})`
  return `#\n# ${name}${variable}: ${description}${preset === undefined ? "" : ` Default: ${JSON.stringify(preset)}.`}\n`
}
