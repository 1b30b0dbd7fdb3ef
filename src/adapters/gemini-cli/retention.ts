/**
 * Gemini CLI deletes a chat when it starts, where nothing was said in it for so long: `general.sessionRetention` of its
 * settings, on and of thirty days where they say nothing. Reads that one setting of that one file.
 */
import { existsSync } from "node:fs"
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Retention } from "../capabilities.ts"
import { readSettings } from "../shared/settings-file.ts"

const MAX_AGE_DEFAULT = "30d"
const DAYS_OF: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7, m: 30 }

/** Nothing for a folder of chats that somebody points at: no client cleans there. */
export function retention(root: string): Retention | undefined {
  if (!existsSync(`${root}/tmp`)) return undefined
  const file = `${root}/settings.json`
  const { enabled, maxAge } = retentionIn(file)
  const days = enabled === false ? undefined : daysOf(maxAge ?? MAX_AGE_DEFAULT)
  return days === undefined ? undefined : { days, setting: "general.sessionRetention.maxAge", file }
}

/** The client deletes nothing by an age that it cannot read. */
function daysOf(age: JsonValue): Retention["days"] | undefined {
  const [, count = "", unit = ""] = /^(\d+)([hdwm])$/.exec(String(age)) ?? []
  const days = Number(count) * (DAYS_OF[unit] ?? 0)
  return days > 0 ? days : undefined
}

function retentionIn(file: string): JsonObject {
  const { general } = readSettings(file)
  const found = isJsonObject(general) ? general["sessionRetention"] : undefined
  return isJsonObject(found) ? found : {}
}
