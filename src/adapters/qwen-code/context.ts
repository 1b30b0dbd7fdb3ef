/**
 * The live conversation of a chat: the path from its last record to the root, and from the newest compression on that
 * path what it put in the place of all before it. Reads kept records, never the disk.
 */
import { isJsonObject } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { wordUnder } from "../spot.ts"
import { SPOKEN, systemKind } from "./records.ts"

/** A record by its id. Lines with one id are fragments of one record. */
interface Link {
  readonly parentId: string | undefined
  readonly entries: Entry[]
  readonly isCompression: boolean
}

export function context(log: SessionLog): readonly Entry[] {
  const { links, leaf } = chainOf(log)
  const path: Link[] = []
  const met = new Set<string>()
  for (let id = leaf; id !== undefined && !met.has(id); ) {
    met.add(id)
    const link = links.get(id)
    if (link === undefined) break
    path.push(link)
    if (link.isCompression) break
    id = link.parentId
  }
  return path.reverse().flatMap(({ entries }) => entries)
}

interface Chain {
  readonly links: ReadonlyMap<string, Link>
  /** The last record of the conversation; side records do not count. */
  readonly leaf: string | undefined
}

function chainOf(log: SessionLog): Chain {
  const links = new Map<string, Link>()
  let leaf: string | undefined
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record } = sourceOf(newest)
    const id = isJsonObject(record) ? wordUnder(record, "uuid") : undefined
    if (record === undefined || id === undefined) continue
    const kind = systemKind(record)
    if (SPOKEN.has(wordUnder(record, "type")) || kind === "rewind" || kind === "chat_compression") leaf = id
    const sent = entries.filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
    const own = wordUnder(record, "subtype") === "realtime_message" ? [] : sent
    const known = links.get(id)
    if (known === undefined)
      links.set(id, {
        parentId: wordUnder(record, "parentUuid"),
        entries: own,
        isCompression: kind === "chat_compression",
      })
    else known.entries.push(...own)
  }
  return { links, leaf }
}
