/**
 * The effective configuration: flag, else environment, else `config.toml`, else default; each value with its origin.
 * A file that cannot be read, a key nobody knows and a value of the wrong kind are `validation_failed`, and say where.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { TSchema } from "typebox"
import { PondError } from "../../model/errors.ts"
import type { Environment } from "../host/environment.ts"
import { placePath } from "../host/paths.ts"
import { suggestion } from "../nearest.ts"
import { errorCode } from "../system-error.ts"
import { type Config, ConfigSchema, type Setting, settingsOf } from "./config-schema.ts"
import { lineOfFault, lineOfKey, parseToml, type TomlTable } from "./toml.ts"

export type Origin =
  | { readonly kind: "flag"; readonly name: string }
  | { readonly kind: "environment"; readonly name: string }
  | { readonly kind: "file"; readonly path: string; readonly line?: number }
  | { readonly kind: "default" }

export interface EffectiveSetting {
  readonly key: string
  readonly description: string
  /** As it may be shown: a secret is `(set)`, an unset value is null. */
  readonly shown: unknown
  readonly origin: Origin
}

export interface Settings {
  readonly values: Config
  readonly effective: readonly EffectiveSetting[]
  /** The config file that was looked for, and whether it was there. */
  readonly file: { readonly path: string; readonly exists: boolean }
}

/** The values of the global flags that are settings, by flag name; and `config`, which names the file. */
export type SettingFlags = Readonly<Record<string, string | undefined>>

interface ConfigFile {
  readonly path: string
  readonly exists: boolean
  readonly text: string
  readonly table: TomlTable
}

/** Every environment variable that is pond's. */
export const VARIABLES: readonly string[] = [
  "POND_CONFIG",
  ...settingsOf(ConfigSchema).flatMap(({ environment }) => environment ?? []),
]

export function readSettings(environment: Environment, flags: SettingFlags): Settings {
  const file = readConfigFile(environment, flags["config"])
  rejectUnknownKeys(file, file.table, ConfigSchema, [])
  const values: TomlTable = {}
  const effective: EffectiveSetting[] = []
  for (const setting of settingsOf(ConfigSchema)) {
    const { value, origin } = resolve(setting, environment, flags, file)
    if (value === undefined) {
      effective.push({ key: setting.key.join("."), description: setting.description, shown: null, origin })
      continue
    }
    if (origin.kind !== "default") checkValue(setting, value, origin)
    setAt(values, setting.key, value)
    const shown = setting.isSecret === true ? "(set)" : value
    effective.push({ key: setting.key.join("."), description: setting.description, shown, origin })
  }
  return { values: values as unknown as Config, effective, file: { path: file.path, exists: file.exists } }
}

export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case "flag":
      return `--${origin.name}`
    case "environment":
      return origin.name
    case "file":
      return origin.line === undefined ? origin.path : `${origin.path}:${origin.line}`
    case "default":
      return "default"
  }
}

// --- The file ----------------------------------------------------------------------

/** A file that was named must be there; the one at the usual place may be missing. */
function readConfigFile(environment: Environment, flag: string | undefined): ConfigFile {
  const named = flag ?? (environment["POND_CONFIG"] || undefined)
  const path = named ?? join(placePath(environment, "config"), "config.toml")
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (cause) {
    const code = errorCode(cause) ?? "unknown"
    if (code === "ENOENT" && named === undefined) return { path, exists: false, text: "", table: {} }
    throw new PondError(
      "validation_failed",
      `Cannot read the config file ${path} (${code}). Fix it, or choose another with --config.`,
      {
        details: { path, reason: code },
        cause,
      },
    )
  }
  try {
    return { path, exists: true, text, table: parseToml(text) }
  } catch (cause) {
    const line = lineOfFault(text)
    const reason = cause instanceof Error ? cause.message.replace(/^TOML Parse error: /, "") : "not TOML"
    throw new PondError("validation_failed", `${path}:${line}: ${reason}.`, { details: { path, line, reason }, cause })
  }
}

function rejectUnknownKeys(file: ConfigFile, table: TomlTable, schema: TSchema, under: readonly string[]): void {
  const known = (schema as { properties?: Record<string, TSchema> }).properties
  if (known === undefined) return
  for (const [name, value] of Object.entries(table)) {
    const key = [...under, name]
    const child = Object.hasOwn(known, name) ? known[name] : undefined
    if (child === undefined) {
      const line = lineOfKey(file.text, key)
      const message = `${file.path}:${line}: unknown setting ${key.join(".")}.${nextStep(name, Object.keys(known))}`
      throw new PondError("validation_failed", message, { details: { path: file.path, line, key: key.join(".") } })
    }
    if (isTable(value)) rejectUnknownKeys(file, value, child, key)
  }
}

function nextStep(name: string, known: readonly string[]): string {
  return suggestion(name, known) || " Remove it, or update pond if a newer one wrote it."
}

// --- One value ----------------------------------------------------------------------

function resolve(setting: Setting, environment: Environment, flags: SettingFlags, file: ConfigFile) {
  const flag = setting.flag === undefined ? undefined : flags[setting.flag]
  if (setting.flag !== undefined && flag !== undefined) {
    return { value: fromText(setting, flag), origin: { kind: "flag", name: setting.flag } as Origin }
  }
  const variable = setting.environment === undefined ? undefined : environment[setting.environment]
  if (setting.environment !== undefined && variable !== undefined && variable !== "") {
    return { value: fromText(setting, variable), origin: { kind: "environment", name: setting.environment } as Origin }
  }
  const stored = getAt(file.table, setting.key)
  if (stored !== undefined) {
    const line = lineOfKey(file.text, setting.key)
    return { value: stored, origin: { kind: "file", path: file.path, line } as Origin }
  }
  return { value: setting.default ?? placedDefault(setting, environment), origin: { kind: "default" } as Origin }
}

/** The one default that depends on the machine: the store of a personal pond. */
function placedDefault(setting: Setting, environment: Environment): unknown {
  return setting.key.join(".") === "store" ? join(placePath(environment, "data"), "store") : undefined
}

/** Loaded only where a setting is set: validation is half the cost of reading the settings. */
function valueCheck(): typeof import("typebox/value").Value {
  return (require("typebox/value") as typeof import("typebox/value")).Value
}

function checkValue(setting: Setting, value: unknown, origin: Origin): void {
  const fault = faultOf(setting, value)
  if (fault === undefined) return
  throw new PondError("validation_failed", `${describeOrigin(origin)}: ${fault}`, {
    details: { key: setting.key.join("."), origin },
  })
}

function faultOf(setting: Setting, value: unknown): string | undefined {
  const [first] = valueCheck().Errors(setting.schema, value)
  if (first === undefined) return undefined
  const params = first.params as { allowedValues?: readonly unknown[] }
  const wanted =
    params.allowedValues === undefined ? first.message : `must be one of ${params.allowedValues.join(", ")}`
  const key = setting.key.join(".")
  const got = setting.isSecret === true ? "another value" : JSON.stringify(value)
  return `${key} ${wanted}, not ${got}.`
}

/** The value of a setting that somebody types; a list is its items between commas. */
export function settingOfText(setting: Setting, text: string): unknown {
  const { type } = setting.schema as { type?: string }
  const items = text.split(",").flatMap((item) => item.trim() || [])
  const value = type === "array" ? items : fromText(setting, text)
  const fault = faultOf(setting, value)
  if (fault === undefined) return value
  throw new PondError("validation_failed", fault, { details: { key: setting.key.join(".") } })
}

/** Flags and variables are text; the schema says what the text means. What does not fit stays text, and fails the check. */
function fromText(setting: Setting, text: string): unknown {
  const { type } = setting.schema as { type?: string }
  if (type === "boolean" && /^(true|false|1|0|on|off)$/.test(text))
    return text === "true" || text === "1" || text === "on"
  if ((type === "integer" || type === "number") && text.trim() !== "" && Number.isFinite(Number(text)))
    return Number(text)
  return text
}

function isTable(value: unknown): value is TomlTable {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function getAt(table: TomlTable, key: readonly string[]): unknown {
  let value: unknown = table
  for (const name of key) value = isTable(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return value
}

function setAt(table: TomlTable, key: readonly string[], value: unknown): void {
  let into = table
  for (const name of key.slice(0, -1)) {
    const next = into[name]
    const child = isTable(next) ? next : {}
    into[name] = child
    into = child
  }
  into[key[key.length - 1] ?? ""] = value
}
