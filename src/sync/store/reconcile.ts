/**
 * Compares a rewritten source with its stored session, record by record. Stored rows stay as they are
 * (`lance-append-only`) and new records are appended. A record that changed under the same id is appended as a
 * revision with the whole new record, and a native restore writes the newest (`adapter-integrity-additive-sync`). A
 * session that a restore moved to another directory is compared in the same way, after the same move.
 */
import type { Adapter } from "../../adapters/adapter.ts"
import { fill } from "../../adapters/lift.ts"
import { hasContentId } from "../../adapters/message-ids.ts"
import { movedJson } from "../../adapters/shared/moved-paths.ts"
import { revisionOf, sourceOf } from "../../adapters/shared/native.ts"
import { canonicalJson, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Entry, Session } from "../../model/session.ts"
import type { Sessions } from "../../sessions/store.ts"
import { entriesOf, type PreparedBatch } from "../../sessions/write/prepare.ts"

export interface Reconciler {
  /** The position of the next new message. */
  readonly nextOrdinal: number
  /** Whether the last stored record that is not a revision was met. */
  readonly hasMetLast: boolean
  /** The session as it is stored. A moved one keeps the project that it is stored under. */
  readonly session: Session
  /** Compares a batch and returns what is to be stored: new messages and revisions. */
  reconcile(batch: PreparedBatch): Reconciled
  /** For a copy: how many records since the last call differ from the stored ones and were left out. */
  takeLeftOut(): number
}

export interface Reconciled {
  /** New messages: their rows in the batch, and the position that each gets. */
  readonly rows: readonly number[]
  readonly ordinals: readonly number[]
  /** What no row of the batch says: revisions, and new messages of a session that was moved. */
  readonly made: readonly Entry[]
}

/** What is known before the session is read. */
export interface StoredSession {
  readonly given: Session
  readonly nextOrdinal: number
  /** Whether some of its messages were found in the store. Another session with the same id has none of its records. */
  readonly isKnown: boolean
  /**
   * Whether another unit has the same session (a copied folder, a client that moved its sessions into a database).
   * Where the two differ, neither is a revision of the other: otherwise each full read would store both again.
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
    reconcile: (batch) => {
      const reconciled = { rows: [] as number[], ordinals: [] as number[], made: [] as Entry[] }
      let next = 0
      for (const group of groupByRecord(entriesOf(batch))) {
        const row = next
        next += group.length
        const [first] = group
        const now = recordOf(group)
        const id = ids.has(first.message.id) ? first.message.id : knownAs(first, now)
        if (id === undefined) {
          if (moved !== undefined) reconciled.made.push(...group.map((entry) => moveTo(moved.entry(entry), ordinal++)))
          else {
            reconciled.rows.push(...group.keys().map((at) => row + at))
            reconciled.ordinals.push(...group.map(() => ordinal++))
          }
          continue
        }
        hasMetLast ||= id === stored.last
        const known = records.get(id)
        if (known === undefined || now === undefined) continue
        if (isThere(known, now)) {
          isKnown = true
          continue
        }
        records.set(id, compared.known(now))
        const revision = { id: revisionId(id, now, ids), of: id, record: now, ordinal: ordinal++ }
        reconciled.made.push(makeRevision(first, revision))
      }
      return reconciled
    },
    takeLeftOut: () => {
      const taken = leftOut
      leftOut = 0
      return taken
    },
  }
}

type ReconciledAdapter = Pick<Adapter, "upgrade" | "relocation">

// --- What is stored --------------------------------------------------------------------------------------------------

/** The stored records, as hashes: a session may have a million messages. */
interface Stored {
  readonly ids: Set<string>
  /** The newest stored form of each record. */
  readonly records: Map<string, StoredRecord>
  /** For a copy: the hash of each record in every form that is stored. */
  readonly forms: Set<bigint>
  /** Messages whose id pond made, in order, by the hash of their record. */
  readonly nameless: Map<bigint, string[]>
  /** The newest message of each document. */
  readonly documents: Map<string, string>
  /** The first message of the last record that is not a revision. */
  last: string | undefined
}

/** How many messages are read at once. */
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
  const take = (group: Readonly<RecordGroup>) => {
    const [first] = group
    const record = recordOf(group)
    const place = documentPlace(first)
    if (place !== undefined) stored.documents.set(place, first.message.id)
    if (record === undefined) return
    const revised = revisionOf(first.message)
    if (revised === undefined) stored.last = first.message.id
    const id = revised ?? first.message.id
    const known = compared.known(record)
    stored.records.set(id, known)
    if (isCopy) stored.forms.add(known.own)
    if (hasContentId(id)) newest.set(id, compared.namesOf(record))
  }
  // The messages of one record may be split between two reads.
  let last: RecordGroup | undefined
  for (let from = 0; from < nextOrdinal; from += MESSAGES_AT_ONCE) {
    const entries = await sessions.entries(session, { from, to: from + MESSAGES_AT_ONCE - 1 })
    for (const { message } of entries) stored.ids.add(message.id)
    const groups = groupByRecord([...(last ?? []), ...entries])
    last = groups.pop()
    for (const group of groups) take(group)
  }
  if (last !== undefined) take(last)
  // Two equal records are two records, and match in their order.
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
 * Finds the stored message whose document is this one with other white space: a client indents what a restore writes
 * on one line. The newest form counts, because a document may change back.
 */
function documentOf({ documents, records }: Stored, first: Entry, record: JsonValue): string | undefined {
  const id = documents.get(documentPlace(first) ?? "")
  if (id === undefined || !hasContentId(id)) return undefined
  return records.get(id)?.own === recordHash(record) ? id : undefined
}

/** The main document is stored without a path. */
function documentPlace({ message }: Entry): string | undefined {
  const { form, file } = sourceOf(message)
  return form === "document" ? `document ${typeof file === "string" ? file : ""}` : undefined
}

// --- Whether a record is one that is stored --------------------------------------------------------------------------

interface StoredRecord {
  readonly own: bigint
  /** The hash of what a restore that moves the session makes of it. */
  readonly moved: bigint | undefined
}

interface Comparison {
  known(record: JsonValue): StoredRecord
  isKnownAs(known: StoredRecord, now: JsonValue): boolean
  /** The hash by which a record is found that has got an id since, or was moved. */
  nameless(record: JsonValue): bigint
  /** The same hashes for a stored record without its own id. */
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

/** Equal records have equal hashes, whatever the order of their keys. */
function recordHash(record: JsonValue): bigint {
  return Bun.hash.xxHash64(canonicalJson(record))
}

/**
 * A session that was restored into another directory (`pond restore --cwd`) has another project than the stored one.
 * It is the same session if its records are the stored ones after the same move.
 */
interface MovedSession {
  readonly session: Session
  /** A stored record as a restore would move it, except for references into other files. */
  record(stored: JsonValue): JsonValue
  plain(record: JsonValue): JsonValue
  /** A new entry with the path of its file as the stored entries have it. */
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

type RecordGroup = [Entry, ...Entry[]]

/** Groups the messages of one record, which are adjacent. */
function groupByRecord(entries: readonly Entry[]): RecordGroup[] {
  const groups: RecordGroup[] = []
  for (const entry of entries) {
    const of = sourceOf(entry.message)["of"]
    const last = groups.at(-1)
    if (of !== undefined && last?.[0].message.id === of) last.push(entry)
    else groups.push([entry])
  }
  return groups
}

function recordOf(group: Readonly<RecordGroup>): JsonValue | undefined {
  const record = sourceOf(group[0].message)["record"]
  return record === undefined ? undefined : fill(record, group)
}

function moveTo(entry: Entry, ordinal: number): Entry {
  return { ...entry, message: { ...entry.message, ordinal } } as Entry
}

/** The id of a revision. A record may change back to what it was, which is one more revision. */
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
  const title = (message.options["pond"] as { readonly title?: string } | undefined)?.title
  return {
    message: {
      id,
      session_id: message.session_id,
      ordinal,
      timestamp: message.timestamp,
      role: "system",
      content: "",
      options: { source: { ...source, record }, pond: { revision_of: of, ...(title === undefined ? {} : { title }) } },
    },
    parts: [],
  }
}
