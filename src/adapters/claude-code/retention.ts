/**
 * How long Claude Code keeps its transcripts: it deletes those that nothing touched for `cleanupPeriodDays` of its
 * settings, and for thirty days where they say nothing. Reads that one number of that one file.
 */
import { existsSync } from "node:fs"
import type { Retention } from "../capabilities.ts"
import { readSettings } from "../shared/settings-file.ts"

const DAYS_DEFAULT = 30

/** Nothing for a folder of logs that somebody points at: no client cleans there. */
export function retention(root: string): Retention | undefined {
  if (!existsSync(`${root}/projects`)) return undefined
  const file = `${root}/settings.json`
  return { days: daysIn(file) ?? DAYS_DEFAULT, setting: "cleanupPeriodDays", file }
}

function daysIn(file: string): number | undefined {
  const days = readSettings(file)["cleanupPeriodDays"]
  return typeof days === "number" ? days : undefined
}
