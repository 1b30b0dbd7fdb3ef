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
  const fault =
    home === undefined || home === "" ? "HOME is not set" : `HOME is "${home}", which is not an absolute path`
  throw new PondError("validation_failed", `${fault}, so pond cannot find its directories. Set HOME or ${instead}.`, {
    details: { variables: ["HOME", instead] },
  })
}

/** Makes the directory where it is missing, for this user alone, and proves that files can be made in it. */
/** `hint` says how else the person can move this directory, such as a variable. */
export function ensureWritable(path: string, hint?: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK | constants.X_OK)
    return path
  } catch (cause) {
    throw notWritable(path, cause, hint)
  }
}

export function notWritable(path: string, cause: unknown, hint?: string): PondError {
  const reason = errorCode(cause)
  const step = NEXT_STEPS[reason ?? ""] ?? "Make it writable, or choose another directory."
  const next = hint === undefined ? step : `${step} ${hint}`
  return new PondError(
    "storage_unavailable",
    `Cannot write to ${path}${reason === undefined ? "" : ` (${reason})`}. ${next}`,
    { details: { path, ...(reason === undefined ? {} : { reason }) }, cause },
  )
}

const IS_FULL = "The disk is full: free some space and run it again."
const NEXT_STEPS: Readonly<Record<string, string>> = {
  ENOSPC: IS_FULL,
  SQLITE_FULL: IS_FULL,
  SQLITE_IOERR_SHMSIZE: IS_FULL,
  ENOTDIR: "Part of the path is a file: choose another path.",
  EEXIST: "It is not a directory: choose another path.",
  EDQUOT: "Your disk quota is exceeded: free some space and run it again.",
  EROFS: "The disk is mounted read-only: choose another path.",
  ENAMETOOLONG: "A file name is too long for this disk: choose another directory with --cwd.",
}
