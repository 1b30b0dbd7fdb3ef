/**
 * pond's hooks in the settings of a client: whether they stand there, adding them, and taking them out again. As with its
 * MCP server, a file that nobody changed since becomes what it was, to the byte; of any other only pond's own part goes.
 */
import { homedir } from "node:os"
import { join } from "node:path"
import type { Adapter } from "../../adapters/adapter.ts"
import type { HookEntries, Hooks } from "../../adapters/hooks.ts"
import { HOOK_EVENTS } from "../../model/hook-events.ts"
import { type ConfigValue, isTable, NotEditable } from "../../platform/edit/editable.ts"
import { addToJsonList, removeFromJson, removeFromJsonList, valueInJson } from "../../platform/edit/json-edit.ts"
import { bytesOfFile, removeFile, replaceFile } from "../../platform/files/replace-file.ts"
import { placePath } from "../../platform/host/paths.ts"
import { ownCommand } from "../../platform/process/programs.ts"
import { shellWord } from "../../platform/process/shell-word.ts"
import type { Pond } from "../pond.ts"
import { noteWritten, ownWork, takeBack } from "./journal.ts"
import type { RegistrationChange } from "./registrations.ts"

/** As of a registration: `outdated` names a pond that is not this one, `taken` is a file of that name that is not pond's. */
export type HooksStatus = "absent" | "registered" | "outdated" | "taken" | "unreadable"

export interface HooksState {
  readonly adapter: string
  readonly title: string
  readonly file: string
  readonly status: HooksStatus
  /** What a person has to do besides. */
  readonly next: string | null
  readonly why: string | null
}

const LISTS = "hooks"

interface Place {
  readonly hooks: Hooks
  readonly path: string
  readonly bytes: Uint8Array | undefined
  readonly text: string
  readonly command: readonly string[]
}

/** Nothing for a client that has no hooks. */
export function hooksStateOf(pond: Pond, { id, title, hooks }: Adapter): HooksState | undefined {
  if (hooks === undefined) return undefined
  const { environment } = pond.host
  const file = hooks.file(environment, environment["HOME"] ?? homedir())
  const state = { adapter: id, title, file, next: hooks.next ?? null }
  try {
    return { ...state, status: statusOf(hooksPlaceOf(pond, hooks)), why: null }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { ...state, status: "unreadable", why: error.message }
  }
}

export function addHooks(pond: Pond, adapter: Adapter): RegistrationChange | undefined {
  const state = hooksStateOf(pond, adapter)
  if (state === undefined || adapter.hooks === undefined) return undefined
  const unchanged = unchangedHooks(adapter, state.file)
  if (state.status !== "absent" && state.status !== "outdated") return unchanged
  const place = hooksPlaceOf(pond, adapter.hooks)
  const text = wantedText(place)
  const own = ownWork(pond, place.path)
  const backup = replaceFile({ path: place.path, from: place.bytes, text, isOwnWork: own !== undefined })
  noteWritten(pond, place.path, text, own?.isMade ?? place.bytes === undefined)
  return { ...unchanged, change: state.status === "absent" ? "added" : "updated", backup: backup ?? null }
}

export function removeHooks(pond: Pond, adapter: Adapter): RegistrationChange | undefined {
  const state = hooksStateOf(pond, adapter)
  if (state === undefined || adapter.hooks === undefined) return undefined
  const unchanged = unchangedHooks(adapter, state.file)
  if (state.status !== "registered" && state.status !== "outdated") return unchanged
  const change = { ...unchanged, change: "removed" } as const
  const place = hooksPlaceOf(pond, adapter.hooks)
  if (takeBack(pond, place.path) || place.bytes === undefined) return change
  if (place.hooks.content.kind === "file") {
    removeFile(place.path, place.bytes)
    return change
  }
  const text = withoutOwn(place.text, place.hooks.content)
  return { ...change, backup: replaceFile({ path: place.path, from: place.bytes, text }) ?? null }
}

function unchangedHooks({ id, title }: Adapter, file: string) {
  return { adapter: id, title, file, change: "none", backup: null } as const
}

// --- What stands there --------------------------------------------------------------------------------------------

function hooksPlaceOf({ host }: Pond, hooks: Hooks): Place {
  const path = hooks.file(host.environment, host.environment["HOME"] ?? homedir())
  const bytes = bytesOfFile(path)
  const text = bytes === undefined ? "" : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  const { file } = host.settings()
  const isUsual = file.path === join(placePath(host.environment, "config"), "config.toml")
  const command = [...ownCommand(host.environment), ...(isUsual ? [] : ["--config", file.path])]
  return { hooks, path, bytes, text, command }
}

function statusOf(place: Place): HooksStatus {
  const { hooks, bytes, text } = place
  if (hooks.content.kind === "file") {
    if (bytes === undefined) return "absent"
    if (text === wantedText(place)) return "registered"
    return /\bhook\b/.test(text) && /\bpond\b/.test(text) ? "outdated" : "taken"
  }
  const wanted = Object.entries(hooks.content.entries(commandLine(place)))
  const own = wanted.map(([name]) => listAt(text, name).filter(callsPond))
  if (own.every((found) => found.length === 0)) return "absent"
  const isAll = wanted.every(([, entry], at) => own[at]?.length === 1 && Bun.deepEquals(own[at]?.[0], entry))
  return isAll ? "registered" : "outdated"
}

function listAt(text: string, name: string): readonly ConfigValue[] {
  const lists = valueInJson(text, [LISTS])
  if (lists !== undefined && !isTable(lists)) throw new NotEditable(`${LISTS} is not an object`)
  const list = lists?.[name] ?? []
  if (!Array.isArray(list)) throw new NotEditable(`${LISTS}.${name} is not a list`)
  return list
}

const OWN_LINE = new RegExp(`\\bhook (?:${HOOK_EVENTS.join("|")}) --client \\S+$`)

/** A group whose only command calls `pond hook`, whichever pond that is. */
function callsPond(group: ConfigValue): boolean {
  const commands = isTable(group) && Array.isArray(group["hooks"]) ? group["hooks"] : []
  const [only] = commands
  return commands.length === 1 && isTable(only) && typeof only["command"] === "string" && OWN_LINE.test(only["command"])
}

function commandLine({ command }: Place): string {
  return command.map(shellWord).join(" ")
}

function wantedText(place: Place): string {
  const { hooks, text, command } = place
  if (hooks.content.kind === "file") return hooks.content.text(command, commandLine(place))
  const entries = Object.entries(hooks.content.entries(commandLine(place)))
  return entries.reduce(
    (edited, [name, entry]) => addToJsonList(edited, [LISTS, name], entry),
    text.trim() === "" ? text : withoutOwn(text, hooks.content),
  )
}

function withoutOwn(text: string, content: HookEntries): string {
  const names = Object.keys(content.entries(""))
  const had = valueInJson(text, [LISTS])
  const edited = names.reduce((rest, name) => removeFromJsonList(rest, [LISTS, name], callsPond), text)
  const left = valueInJson(edited, [LISTS])
  const isEmptied = isTable(had) && Object.keys(had).length > 0 && isTable(left) && Object.keys(left).length === 0
  return isEmptied ? removeFromJson(edited, [LISTS]) : edited
}
