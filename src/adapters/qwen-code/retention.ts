/**
 * Qwen Code deletes no chat, and once a day what its sub-agents did in those that nothing touched for `general.cleanupPeriodDays` of
 * its settings, for thirty days where they say nothing. Reads that one number of that one file.
 */
import { existsSync } from "node:fs"
import { isJsonObject } from "../../model/json.ts"
import type { Retention } from "../capabilities.ts"
import { readSettings } from "../shared/settings-file.ts"

const DAYS_DEFAULT = 30

/** Nothing for a folder of chats that somebody points at: no client cleans there. */
export function retention(root: string): Retention | undefined {
  if (!existsSync(`${root}/projects`)) return undefined
  const file = `${root}/settings.json`
  const { general } = readSettings(file)
  const days = isJsonObject(general) ? general["cleanupPeriodDays"] : undefined
  return { days: typeof days === "number" ? days : DAYS_DEFAULT, setting: "general.cleanupPeriodDays", file }
}

export function isOfSubAgent(relativePath: string): boolean {
  return /(?:^|\/)subagents\//.test(relativePath)
}
