/**
 * Where pond keeps things, by the XDG base directory rules: a variable that is unset, empty or relative does not count.
 * Each place is worked out when it is asked for, so that what needs no place runs without `HOME`.
 */
import { accessSync, constants, mkdirSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import { PondError } from "../../model/errors.ts"
import { errorCode } from "../system-error.ts"
import type { Environment } from "./environment.ts"

const BASES = {
  config: { variable: "XDG_CONFIG_HOME", underHome: ".config" },
  data: { variable: "XDG_DATA_HOME", underHome: ".local/share" },
  state: { variable: "XDG_STATE_HOME", underHome: ".local/state" },
  cache: { variable: "XDG_CACHE_HOME", underHome: ".cache" },
} as const

export type Place = keyof typeof BASES

export const PLACES: readonly Place[] = ["config", "data", "state", "cache"]

/** The directory of one place. It need not exist. */
export function placePath(environment: Environment, place: Place): string {
  const { variable, underHome } = BASES[place]
  const base = environment[variable]
  if (base !== undefined && isAbsolute(base)) return join(base, "pond")
  return join(homePath(environment, variable), underHome, "pond")
}

/** The home directory; `instead` names the variable that would have spared the question. */
function homePath(environment: Environment, instead: string): string {
  const home = environment["HOME"]
  if (home !== undefined && isAbsolute(home)) return home
  const fault = home === undefined || home === "" ? "HOME is not set" : `HOME is "${home}", which is no absolute path`
  throw new PondError("validation_failed", `${fault}, so pond has no place of its own. Set HOME or ${instead}.`, {
    details: { variables: ["HOME", instead] },
  })
}

/** Makes the directory where it is missing, for this user alone, and proves that files can be made in it. */
export function ensureWritable(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK | constants.X_OK)
    return path
  } catch (cause) {
    throw notWritable(path, cause)
  }
}

export function notWritable(path: string, cause: unknown): PondError {
  const reason = errorCode(cause)
  const next = NEXT_STEPS[reason ?? ""] ?? "Make it writable, or choose another place."
  return new PondError(
    "storage_unavailable",
    `pond cannot write to ${path}${reason === undefined ? "" : ` (${reason})`}. ${next}`,
    { details: { path, ...(reason === undefined ? {} : { reason }) }, cause },
  )
}

const IS_FULL = "Its disk is full: make room there, and run it again."
const NEXT_STEPS: Readonly<Record<string, string>> = {
  ENOSPC: IS_FULL,
  SQLITE_FULL: IS_FULL,
  SQLITE_IOERR_SHMSIZE: IS_FULL,
  ENOTDIR: "Part of its path is a file: choose another place.",
  EEXIST: "What is there is no directory: choose another place.",
  EDQUOT: "Your share of its disk is full: make room there, and run it again.",
  EROFS: "Its disk is mounted for reading alone: choose another place.",
  ENAMETOOLONG: "A name in it is longer than its disk takes: choose another directory with --cwd.",
}
