/**
 * Clients that pond knows and has no adapter for. What they are about to delete is said all the same, because nothing else
 * keeps it. An entry has the shape of an adapter, which takes it over as it is; then `unreadClients` leaves it out.
 */
import { join } from "node:path"
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.ts"
import type { Adapter, Retention, RetentionPolicy, Source } from "./adapter.ts"
import { readSettings } from "./shared/settings-file.ts"
import { filesBelow, isIssue } from "./shared/walk.ts"

export interface UnreadClient {
  readonly id: string
  readonly title: string
  readonly source: Source
  readonly retention: RetentionPolicy
}

/**
 * Gemini CLI deletes a chat when it starts, where nothing was said in it for so long: `general.sessionRetention` of its
 * settings, on and of thirty days where they say nothing. Of its directory, which holds credentials, the names and times of
 * chats are looked at and that one setting is read.
 */
const geminiCli: UnreadClient = {
  id: "gemini-cli",
  title: "Gemini CLI",
  source: {
    roots: (environment, home) => [join(environment["GEMINI_CLI_HOME"] || home, ".gemini")],
    plan: async function* (root) {
      const chats = join(root, "tmp")
      for (const found of filesBelow(chats, { form: "bytes", depthMax: 2, accepts: (place) => CHAT.test(place) }))
        yield isIssue(found) ? found : { key: found.relativePath, root, files: [found] }
    },
  },
  retention: {
    of: (root) => {
      const file = join(root, "settings.json")
      const { enabled, maxAge } = retentionIn(file)
      const days = enabled === false ? undefined : daysOf(maxAge ?? MAX_AGE_DEFAULT)
      return days === undefined ? undefined : { days, setting: "general.sessionRetention.maxAge", file }
    },
  },
}

const WATCHED: readonly UnreadClient[] = [geminiCli]

/** Those of them that none of the given adapters reads. */
export function unreadClients(adapters: readonly Pick<Adapter, "id">[]): UnreadClient[] {
  const read = new Set(adapters.map(({ id }) => id))
  return WATCHED.filter(({ id }) => !read.has(id))
}

const CHAT = /^[^/]+\/chats\/session-[^/]+\.jsonl?$/
const MAX_AGE_DEFAULT = "30d"
const DAYS_OF: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7, m: 30 }

/** The client deletes nothing by an age that it cannot read. */
function daysOf(age: JsonValue): Retention["days"] | undefined {
  const [, count = "", unit = ""] = /^(\d+)([hdwm])$/.exec(String(age)) ?? []
  const days = Number(count) * (DAYS_OF[unit] ?? 0)
  return days > 0 ? days : undefined
}

function retentionIn(file: string): JsonObject {
  const { general } = readSettings(file)
  const retention = isJsonObject(general) ? general["sessionRetention"] : undefined
  return isJsonObject(retention) ? retention : {}
}
