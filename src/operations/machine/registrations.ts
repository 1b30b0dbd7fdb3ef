/**
 * Pond's MCP server among the servers of a client: how it stands there, telling the client, and taking it back. A plan
 * says what would change before anything does; a file that cannot be changed safely is left alone, and what to add said.
 */
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { basename, join } from "node:path"
import type { Adapter } from "../../adapters/adapter.ts"
import type { Registration, ServerEntry, SettingsFile } from "../../adapters/registration.ts"
import { type ConfigValue, isTable, NotEditable } from "../../platform/edit/editable.ts"
import { removeFromJson, setInJson, valueInJson } from "../../platform/edit/json-edit.ts"
import { removeFromToml, setInToml, valueInToml } from "../../platform/edit/toml-edit.ts"
import { removeFromTomlList, setInTomlList, tablesOfList } from "../../platform/edit/toml-list.ts"
import { removeFromYaml, setInYaml, valueInYaml } from "../../platform/edit/yaml-edit.ts"
import { bytesOfFile, replaceFile } from "../../platform/files/replace-file.ts"
import { placePath } from "../../platform/host/paths.ts"
import { ownCommand } from "../../platform/process/programs.ts"
import type { Pond } from "../pond.ts"
import { noteWritten, ownWork, takeBack } from "./journal.ts"

const SERVER_NAME = "pond"

/**
 * - `outdated`: it names a pond that is not this one, such as one that was moved.
 * - `taken`: something else has the name.
 * - `unreadable`: the file is not what its form says.
 */
export type RegistrationStatus = "absent" | "registered" | "outdated" | "taken" | "unreadable"

export interface RegistrationState {
  readonly adapter: string
  readonly title: string
  readonly file: string
  readonly status: RegistrationStatus
  /** The command that the client has of pond; of an outdated one the old. */
  readonly command: readonly string[] | null
  /** What `pond init` would put there, as text of that file. */
  readonly wanted: string
  readonly by_hand: readonly string[] | null
  readonly why: string | null
}

export interface RegistrationChange {
  readonly adapter: string
  readonly title: string
  readonly file: string
  readonly change: "added" | "updated" | "removed" | "none"
  readonly backup: string | null
}

interface Place {
  readonly registration: Registration
  readonly file: SettingsFile
  readonly bytes: Uint8Array | undefined
  readonly text: string
  readonly entry: ServerEntry
}

/** The command that a client starts pond's MCP server with. */
function serverCommand({ host }: Pond): readonly string[] {
  const { file } = host.settings()
  const isUsual = file.path === join(placePath(host.environment, "config"), "config.toml")
  return [...ownCommand(host.environment), ...(isUsual ? [] : ["--config", file.path]), "mcp"]
}

/** Nothing for a client that knows no MCP, or has no settings yet that pond may add to. */
export function registrationOf(pond: Pond, adapter: Adapter): RegistrationState | undefined {
  if (adapter.registration === undefined) return undefined
  if (adapter.registration.isOnlyChanged && !existsSync(settingsFile(pond, adapter.registration).path)) return undefined
  const command = serverCommand(pond)
  const file = settingsFile(pond, adapter.registration)
  const { entry, byHand } = { entry: adapter.registration.entry(command), byHand: adapter.registration.byHand }
  const state = {
    adapter: adapter.id,
    title: adapter.title,
    file: file.path,
    wanted: editSettings(file.form, "", adapter.registration, entry).trimEnd(),
    by_hand: byHand?.(SERVER_NAME, command) ?? null,
  }
  try {
    const place = placeOf(pond, adapter.registration)
    return { ...state, ...standing(place, command), why: null }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { ...state, status: "unreadable", command: null, why: error.message }
  }
}

/** Adds or updates the entry; keys of it that are not pond's stay. */
export function register(pond: Pond, adapter: Adapter): RegistrationChange | undefined {
  const state = registrationOf(pond, adapter)
  if (state === undefined || adapter.registration === undefined) return undefined
  const unchanged = unchangedIn(state.file, adapter)
  if (state.status !== "absent" && state.status !== "outdated") return unchanged
  const place = placeOf(pond, adapter.registration)
  const text = editSettings(place.file.form, place.text, adapter.registration, place.entry)
  const own = ownWork(pond, place.file.path)
  const backup = replaceFile({ path: place.file.path, from: place.bytes, text, isOwnWork: own !== undefined })
  noteWritten(pond, place.file.path, text, own?.isMade ?? place.bytes === undefined)
  return { ...unchanged, change: state.status === "absent" ? "added" : "updated", backup: backup ?? null }
}

function unchangedIn(file: string, { id, title }: Adapter): RegistrationChange {
  return { adapter: id, title, file, change: "none", backup: null }
}

/** A file that nobody changed since becomes what it was, to the byte; of any other only the entry goes. */
export function unregister(pond: Pond, adapter: Adapter): RegistrationChange | undefined {
  const state = registrationOf(pond, adapter)
  if (state === undefined || adapter.registration === undefined) return undefined
  const unchanged = unchangedIn(state.file, adapter)
  if (state.status !== "registered" && state.status !== "outdated") return unchanged
  const change = { ...unchanged, change: "removed" } as const
  const place = placeOf(pond, adapter.registration)
  if (takeBack(pond, place.file.path)) return change
  const text = editSettings(place.file.form, place.text, adapter.registration, undefined)
  return { ...change, backup: replaceFile({ path: place.file.path, from: place.bytes, text }) ?? null }
}

// --- What stands there --------------------------------------------------------------------------------------------

function settingsFile({ host }: Pond, registration: Registration): SettingsFile {
  const files = registration.files(host.environment, host.environment["HOME"] ?? homedir())
  const found = files.find(({ path }) => existsSync(path)) ?? files.at(-1)
  return found ?? { path: "", form: "json" }
}

function placeOf(pond: Pond, registration: Registration): Place {
  const file = settingsFile(pond, registration)
  const bytes = bytesOfFile(file.path)
  const text = bytes === undefined ? "" : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  return { registration, file, bytes, text, entry: registration.entry(serverCommand(pond)) }
}

function standing(
  { registration, file, text }: Place,
  wanted: readonly string[],
): Pick<RegistrationState, "status" | "command"> {
  const servers = serversIn(text, file.form, registration)
  if (servers !== undefined && !isTable(servers))
    throw new NotEditable(`${registration.servers.join(".")} is not a table of servers`)
  const own = servers?.[SERVER_NAME]
  const isAny = Object.values(servers ?? {}).some((entry) => Bun.deepEquals(registration.commandOf(entry), wanted))
  if (isAny) return { status: "registered", command: wanted }
  if (own === undefined) return { status: "absent", command: null }
  const command = registration.commandOf(own) ?? null
  return { status: command !== null && looksLikePond(command) ? "outdated" : "taken", command }
}

/** `…/pond mcp`, with flags or without, or a source tree of it. */
function looksLikePond(command: readonly string[]): boolean {
  const [program = "", script = ""] = command
  const isPond = /^pond(\.exe)?$/.test(basename(program)) || basename(script) === "main.ts"
  return isPond && command.at(-1) === "mcp"
}

function editSettings(
  form: SettingsFile["form"],
  text: string,
  { servers, named }: Registration,
  value: ServerEntry | undefined,
): string {
  const path = [...servers, SERVER_NAME]
  if (form === "json") return value === undefined ? removeFromJson(text, path) : setInJson(text, path, value)
  if (form === "yaml")
    return value === undefined ? removeFromYaml(text, path, named) : setInYaml(text, path, value, named)
  if (named !== undefined)
    return value === undefined ? removeFromTomlList(text, path, named) : setInTomlList(text, path, value, named)
  return value === undefined ? removeFromToml(text, path) : setInToml(text, path, value)
}

/** By their names. */
function serversIn(
  text: string,
  form: SettingsFile["form"],
  { servers, named }: Registration,
): ConfigValue | undefined {
  if (form === "toml" && named !== undefined) return byName(tablesOfList(text, servers), named)
  const read = { json: valueInJson, toml: valueInToml, yaml: valueInYaml }[form]
  const found = read(text, servers)
  return named !== undefined && Array.isArray(found) ? byName(found, named) : (found ?? undefined)
}

function byName(entries: readonly ConfigValue[], named: string): ConfigValue {
  return Object.fromEntries(entries.flatMap((entry) => (isTable(entry) ? [[String(entry[named]), entry]] : [])))
}
