/**
 * A source that was rewritten is read again from its beginning. What is stored stays as it is (`lance-append-only`); what
 * is new comes behind it; a record that changed under the same id is appended as a revision with the whole new record,
 * and native restore writes the newest (`adapter-integrity-additive-sync`). A session that a restore moved to another
 * directory is compared in the same way, by what its records became on the way.
 */
import type { Adapter } from "../../adapters/adapter.ts"
import { fill } from "../../adapters/lift.ts"
import { hasContentId } from "../../adapters/message-ids.ts"
import { movedJson } from "../../adapters/shared/moved-paths.ts"
import { revisionOf, sourceOf } from "../../adapters/shared/native.ts"
import { canonicalJson, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Entry, Session } from "../../model/session.ts"
import type { Sessions } from "../../sessions/store.ts"

export interface Reconciler {
  /** Where what is new begins; behind it, once it was given. */
  readonly nextOrdinal: number
  /** Whether the last record that was stored, of those that are no revision, was among what was given. */
  readonly hasMetLast: boolean
  /** The session as it is to be stored: one that was moved keeps the project that it is stored under. */
  readonly session: Session
  /** The entries as they are to be stored. */
  reconcile(entries: readonly Entry[]): Entry[]
  /** Of a copy: how many records, since this was last asked, are stored as the other has them, and not as they are here. */
  takeLeftOut(): number
}

/** What is known of the session before it is read. */
export interface StoredSession {
  readonly given: Session
  readonly nextOrdinal: number
  /** Whether some of it was found there already: another session that has come by the same id has none of its records. */
  readonly isKnown: boolean
  /**
   * A session may lie in two places (a copied folder, a client that moved its sessions into a database), and what they say
   * under one id may differ. Neither is a change of the other: taken for one, each would be stored anew every time that both
   * are read again.
   */
  readonly isCopy: boolean
}

export async function createReconciler(
  adapter: ReconciledAdapter,
  sessions: Sessions,
  { given, nextOrdinal, isCopy, ...before }: StoredSession,
): Promise<Reconciler> {
  const moved = detectMove(await sessions.session(given.id), given, adapter)
  const compared = createComparison(adapter, moved)
  const stored = await indexStored(sessions, { session: given.id, nextOrdinal, compared, isCopy })
  const { ids, records, nameless } = stored
  let leftOut = 0
  const isThere = (known: StoredRecord, now: JsonValue) => {
    if (compared.isKnownAs(known, now)) return true
    if (isCopy && !stored.forms.has(recordHash(now))) leftOut++
    return isCopy
  }
  const knownAs = (first: Entry, record: JsonValue | undefined) => {
    if (record === undefined) return undefined
    const id = nameless.size === 0 ? undefined : nameless.get(compared.nameless(record))?.shift()
    return id ?? documentOf(stored, first, record)
  }
  let ordinal = nextOrdinal
  let hasMetLast = stored.last === undefined
  let { isKnown } = before
  return {
    get nextOrdinal() {
      return ordinal
    },
    get hasMetLast() {
      return hasMetLast
    },
    get session() {
      return isKnown && moved !== undefined ? moved.session : given
    },
    reconcile: (entries) =>
      groupByRecord(entries).flatMap((group): Entry[] => {
        const [first] = group
        if (first === undefined) return []
        const now = recordOf(group)
        const id = ids.has(first.message.id) ? first.message.id : knownAs(first, now)
        if (id === undefined) return group.map((entry) => moveTo(moved?.entry(entry) ?? entry, ordinal++))
        hasMetLast ||= id === stored.last
        const known = records.get(id)
        if (known === undefined || now === undefined) return []
        if (isThere(known, now)) {
          isKnown = true
          return []
        }
        records.set(id, compared.known(now))
        return [makeRevision(first, { id: revisionId(id, now, ids), of: id, record: now, ordinal: ordinal++ })]
      }),
    takeLeftOut: () => {
      const taken = leftOut
      leftOut = 0
      return taken
    },
  }
}

type ReconciledAdapter = Pick<Adapter, "upgrade" | "relocation">

// --- What is stored --------------------------------------------------------------------------------------------------

/** A session may have a million messages: of each record it is known whether it is this one, and not what it says. */
interface Stored {
  readonly ids: Set<string>
  /** The record that a message holds, in the newest form that is stored. */
  readonly records: Map<string, StoredRecord>
  /** Of a session that lies in two places: the hash of each record in each form that is stored. */
  readonly forms: Set<bigint>
  /** The messages under ids that pond made, in their order, by what their records are known by. */
  readonly nameless: Map<bigint, string[]>
  /** The newest message of each document. */
  readonly documents: Map<string, string>
  /** The first message of the last record that is no revision. */
  last: string | undefined
}

/** So many messages are read at once. */
const MESSAGES_AT_ONCE = 4096

interface StoredRange {
  readonly session: string
  readonly nextOrdinal: number
  readonly compared: Comparison
  readonly isCopy: boolean
}

async function indexStored(
  sessions: Sessions,
  { session, nextOrdinal, compared, isCopy }: StoredRange,
): Promise<Stored> {
  const [ids, records, forms] = [new Set<string>(), new Map<string, StoredRecord>(), new Set<bigint>()]
  const stored: Stored = { ids, records, forms, nameless: new Map(), documents: new Map(), last: undefined }
  const newest = new Map<string, ReadonlySet<bigint>>()
  const take = (group: readonly Entry[]) => {
    const [first] = group
    const record = recordOf(group)
    const place = first && documentPlace(first)
    if (first !== undefined && place !== undefined) stored.documents.set(place, first.message.id)
    if (first === undefined || record === undefined) return
    const revised = revisionOf(first.message)
    if (revised === undefined) stored.last = first.message.id
    const id = revised ?? first.message.id
    const known = compared.known(record)
    stored.records.set(id, known)
    if (isCopy) stored.forms.add(known.own)
    if (hasContentId(id)) newest.set(id, compared.namesOf(record))
  }
  // The messages of one record may lie in two reads.
  let last: Entry[] = []
  for (let from = 0; from < nextOrdinal; from += MESSAGES_AT_ONCE) {
    const entries = await sessions.entries(session, { from, to: from + MESSAGES_AT_ONCE - 1 })
    for (const { message } of entries) stored.ids.add(message.id)
    const groups = groupByRecord([...last, ...entries])
    last = groups.pop() ?? []
    for (const group of groups) take(group)
  }
  take(last)
  // The same record twice is two records: the first of them is the first that comes again.
  for (const [id, names] of newest) {
    for (const name of names) {
      const same = stored.nameless.get(name)
      if (same === undefined) stored.nameless.set(name, [id])
      else same.push(id)
    }
  }
  return stored
}

/**
 * Finds the stored message, under an id that pond made, whose document this one is with other white space: a client may have
 * indented it, and a restore does not. Of a document that changed the newest counts: it may have become again what it was.
 */
function documentOf({ documents, records }: Stored, first: Entry, record: JsonValue): string | undefined {
  const id = documents.get(documentPlace(first) ?? "")
  if (id === undefined || !hasContentId(id)) return undefined
  return records.get(id)?.own === recordHash(record) ? id : undefined
}

/** The main file has none of its own. */
function documentPlace({ message }: Entry): string | undefined {
  const { form, file } = sourceOf(message)
  return form === "document" ? `document ${typeof file === "string" ? file : ""}` : undefined
}

// --- Whether a record is one that is stored --------------------------------------------------------------------------

interface StoredRecord {
  readonly own: bigint
  /** What a restore that moved its session made of it. */
  readonly moved: bigint | undefined
}

interface Comparison {
  known(record: JsonValue): StoredRecord
  isKnownAs(known: StoredRecord, now: JsonValue): boolean
  /** What a record is known by that has got an id since, or was moved. */
  nameless(record: JsonValue): bigint
  /** The same of a record that is stored without one: none where a record keeps the id that it has. */
  namesOf(record: JsonValue): ReadonlySet<bigint>
}

function createComparison({ upgrade }: ReconciledAdapter, moved: MovedSession | undefined): Comparison {
  const hasNames = upgrade !== undefined || moved !== undefined
  const nameless = (record: JsonValue) => {
    const plain = moved?.plain(record) ?? record
    return recordHash(upgrade?.unchanged(plain) ?? plain)
  }
  return {
    nameless,
    namesOf: (record) => {
      if (!hasNames) return new Set()
      return new Set([nameless(record), ...(moved === undefined ? [] : [nameless(moved.record(record))])])
    },
    known: (record) => ({ own: recordHash(record), moved: moved && recordHash(moved.record(record)) }),
    isKnownAs: (known, now) =>
      known.own === recordHash(now) || (moved !== undefined && known.moved === recordHash(moved.plain(now))),
  }
}

/** Records are the same by value, whatever the order of their keys. */
function recordHash(record: JsonValue): bigint {
  return Bun.hash.xxHash64(canonicalJson(record))
}

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

function detectMove(
  stored: Session | undefined,
  given: Session,
  { relocation }: ReconciledAdapter,
): MovedSession | undefined {
  if (stored === undefined || stored.source_agent !== given.source_agent || stored.project === given.project)
    return undefined
  const move = { from: stored.project, to: given.project }
  const plain = relocation?.unchangedByRepoint ?? ((record: JsonValue) => record)
  return {
    session: { ...given, project: stored.project },
    record: (record) => plain(movedJson(record, move)),
    plain,
    entry: (entry) => {
      const source = sourceOf(entry.message)
      const { file } = source
      const place = typeof file === "string" ? relocation?.relativePath?.(file, move.to, move.from) : undefined
      if (place === undefined || place === file) return entry
      const options = { ...entry.message.options, source: { ...source, file: place } }
      return { ...entry, message: { ...entry.message, options } } as Entry
    },
  }
}

// --- Records, and revisions of them ----------------------------------------------------------------------------------

/** The messages of one record stand together. */
function groupByRecord(entries: readonly Entry[]): Entry[][] {
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

function moveTo(entry: Entry, ordinal: number): Entry {
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

function makeRevision({ message }: Entry, { id, of, record, ordinal }: Revision): Entry {
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
