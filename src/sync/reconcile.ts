/**
 * A source that was rewritten is read again from its beginning. What is stored stays as it is (`lance-append-only`); what
 * is new comes behind it; a record that changed under the same id is appended as a revision with the whole new record,
 * and native restore writes the newest (`adapter-integrity-additive-sync`). A session that a restore moved to another
 * directory is compared in the same way, by what its records became on the way.
 */
import type { Adapter } from "../adapters/adapter.ts"
import { fill } from "../adapters/lift.ts"
import { hasContentId } from "../adapters/message-ids.ts"
import { movedJson } from "../adapters/shared/moved-paths.ts"
import { revisionOf, sourceOf } from "../adapters/shared/native.ts"
import { equalJson, type JsonValue, stringifyJson } from "../model/json.ts"
import type { Entry, Session } from "../model/session.ts"
import type { Sessions } from "../sessions/store.ts"

export interface Reconciler {
  /** Where what is new begins; behind it, once it was given. */
  readonly nextOrdinal: number
  /** The session as it is to be stored: one that was moved keeps the project that it is stored under. */
  readonly session: Session
  /** The entries as they are to be stored. */
  reconcile(entries: readonly Entry[]): Entry[]
}

/** The record that a message holds, in the newest form that is stored. */
type Records = Map<string, JsonValue>

export async function createReconciler(
  adapter: ReconciledAdapter,
  sessions: Sessions,
  given: Session,
): Promise<Reconciler> {
  const stored = await sessions.entries(given.id)
  const records = recordsOf(stored)
  const ids = new Set(stored.map(({ message }) => message.id))
  const moved = movedSession(await sessions.session(given.id), given, adapter)
  const knownAs = namelessRecords(records, adapter.unchangedByUpgrade, moved)
  const documentOf = newestDocuments(stored, records)
  const isKnownAs = (record: JsonValue, now: JsonValue) =>
    equalJson(record, now) || (moved !== undefined && equalJson(moved.record(record), moved.plain(now)))
  let ordinal = stored.reduce((last, { message }) => Math.max(last, message.ordinal), -1) + 1
  let isKnown = false
  return {
    get nextOrdinal() {
      return ordinal
    },
    // Of another session that has come by the same id nothing is known here.
    get session() {
      return isKnown && moved !== undefined ? moved.session : given
    },
    reconcile: (entries) =>
      groupsOf(entries).flatMap((group): Entry[] => {
        const [first] = group
        if (first === undefined) return []
        const now = recordOf(group)
        const id = ids.has(first.message.id) ? first.message.id : (knownAs(now) ?? documentOf(first, now))
        if (id === undefined) return group.map((entry) => placed(moved?.entry(entry) ?? entry, ordinal++))
        const known = records.get(id)
        if (known === undefined || now === undefined) return []
        if (isKnownAs(known, now)) {
          isKnown = true
          return []
        }
        records.set(id, now)
        return [revision(first, { id: revisionId(id, now, ids), of: id, record: now, ordinal: ordinal++ })]
      }),
  }
}

type ReconciledAdapter = Pick<Adapter, "unchangedByUpgrade" | "serialize">

/**
 * A session that was restored into another directory (`pond restore --cwd`) comes under another project, which a stored
 * session cannot take. It is the same one where its records are those that are stored, as a restore moves them.
 */
interface MovedSession {
  readonly session: Session
  /** What a restore made of a record that is stored, but for what points into other files. */
  record(stored: JsonValue): JsonValue
  plain(record: JsonValue): JsonValue
  /** A new entry, at the place that it has beside the stored ones. */
  entry(entry: Entry): Entry
}

function movedSession(
  stored: Session | undefined,
  given: Session,
  { serialize }: ReconciledAdapter,
): MovedSession | undefined {
  if (stored === undefined || stored.source_agent !== given.source_agent || stored.project === given.project)
    return undefined
  const move = { from: stored.project, to: given.project }
  const plain = serialize.unchangedByRepoint ?? ((record) => record)
  return {
    session: { ...given, project: stored.project },
    record: (record) => plain(movedJson(record, move)),
    plain,
    entry: (entry) => {
      const source = sourceOf(entry.message)
      const { file } = source
      const place = typeof file === "string" ? serialize.place?.(file, move.to, move.from) : undefined
      if (place === undefined || place === file) return entry
      const options = { ...entry.message.options, source: { ...source, file: place } }
      return { ...entry, message: { ...entry.message, options } } as Entry
    },
  }
}

/**
 * Finds the stored message, under an id that pond made, whose record this one is since its client gave it an id, or since the
 * session was moved.
 */
function namelessRecords(
  records: Records,
  unchangedByUpgrade: Adapter["unchangedByUpgrade"],
  moved: MovedSession | undefined,
): (record: JsonValue | undefined) => string | undefined {
  if (unchangedByUpgrade === undefined && moved === undefined) return () => undefined
  const textOf = (record: JsonValue) => {
    const plain = moved?.plain(record) ?? record
    return stringifyJson(unchangedByUpgrade?.(plain) ?? plain)
  }
  const ids = new Map<string, string[]>()
  for (const [id, record] of records) {
    if (!hasContentId(id)) continue
    for (const text of new Set([textOf(record), ...(moved === undefined ? [] : [textOf(moved.record(record))])])) {
      const same = ids.get(text)
      if (same === undefined) ids.set(text, [id])
      else same.push(id)
    }
  }
  // The same record twice is two records: the first of them is the first that comes again.
  return (record) => (record === undefined ? undefined : ids.get(textOf(record))?.shift())
}

/**
 * Finds the stored message, under an id that pond made, whose document this one is with other white space: a client may have
 * indented it, and a restore does not. Of a document that changed the newest counts: it may have become again what it was.
 */
function newestDocuments(
  stored: readonly Entry[],
  records: Records,
): (first: Entry, record: JsonValue | undefined) => string | undefined {
  const newest = new Map<string, string>()
  for (const [first] of groupsOf(stored)) {
    const place = first === undefined ? undefined : documentPlace(first)
    if (first !== undefined && place !== undefined) newest.set(place, first.message.id)
  }
  return (first, record) => {
    const id = newest.get(documentPlace(first) ?? "")
    const known = id === undefined ? undefined : records.get(id)
    const isSame = known !== undefined && record !== undefined && equalJson(known, record)
    return isSame && id !== undefined && hasContentId(id) ? id : undefined
  }
}

/** The main file has none of its own. */
function documentPlace({ message }: Entry): string | undefined {
  const { form, file } = sourceOf(message)
  return form === "document" ? `document ${typeof file === "string" ? file : ""}` : undefined
}

function recordsOf(entries: readonly Entry[]): Records {
  const records: Records = new Map()
  for (const group of groupsOf(entries)) {
    const [first] = group
    const record = recordOf(group)
    if (first !== undefined && record !== undefined) records.set(revisionOf(first.message) ?? first.message.id, record)
  }
  return records
}

/** The messages of one record stand together. */
function groupsOf(entries: readonly Entry[]): Entry[][] {
  const groups: Entry[][] = []
  for (const entry of entries) {
    const of = sourceOf(entry.message)["of"]
    const last = groups.at(-1)
    if (of !== undefined && last?.[0]?.message.id === of) last.push(entry)
    else groups.push([entry])
  }
  return groups
}

function recordOf(group: readonly Entry[]): JsonValue | undefined {
  const [first] = group
  const record = first === undefined ? undefined : sourceOf(first.message)["record"]
  return record === undefined ? undefined : fill(record, group)
}

function placed(entry: Entry, ordinal: number): Entry {
  return { ...entry, message: { ...entry.message, ordinal } } as Entry
}

/** A record may say again what it said before it said another thing: that is one more revision. */
function revisionId(of: string, record: JsonValue, ids: Set<string>): string {
  const hash = Bun.hash.xxHash64(stringifyJson(record)).toString(16).padStart(16, "0")
  let id = `${of}@${hash}`
  for (let again = 2; ids.has(id); again++) id = `${of}@${hash}.${again}`
  ids.add(id)
  return id
}

interface Revision {
  readonly id: string
  readonly of: string
  readonly record: JsonValue
  readonly ordinal: number
}

function revision({ message }: Entry, { id, of, record, ordinal }: Revision): Entry {
  const { of: _, lift: __, ...source } = sourceOf(message)
  return {
    message: {
      id,
      session_id: message.session_id,
      ordinal,
      timestamp: message.timestamp,
      role: "system",
      content: "",
      options: { source: { ...source, record }, pond: { revision_of: of } },
    },
    parts: [],
  }
}
