/**
 * How long Claude Code keeps its transcripts: it deletes those that nothing touched for `cleanupPeriodDays` of its
 * settings, and for thirty days where they say nothing. Reads that one number of that one file.
 */
import { existsSync, readFileSync } from "node:fs"
import { isJsonObject, parseJson } from "../../model/json.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { Retention } from "../adapter.ts"

const DAYS_DEFAULT = 30

/** Nothing for a folder of logs that somebody points at: no client cleans there. */
export function retention(root: string): Retention | undefined {
  if (!existsSync(`${root}/projects`)) return undefined
  const file = `${root}/settings.json`
  return { days: daysIn(file) ?? DAYS_DEFAULT, setting: "cleanupPeriodDays", file }
}

function daysIn(file: string): number | undefined {
  if (!existsSync(file)) return undefined
  const parsed = parseJson(readTextOrEmpty(file))
  const days = parsed.ok && isJsonObject(parsed.value) ? parsed.value["cleanupPeriodDays"] : undefined
  return typeof days === "number" ? days : undefined
}

/** Settings that cannot be read say nothing to pond; the client itself may still read them. */
function readTextOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8")
  } catch (error) {
    if (isSystemError(error)) return ""
    throw error
  }
}
