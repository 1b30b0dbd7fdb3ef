/**
 * A source that was rewritten is read again from its beginning. What is stored stays as it is (`lance-append-only`); what
 * is new comes behind it; a record that changed under the same id is appended as a revision with the whole new record,
 * and native restore writes the newest (`adapter-integrity-additive-sync`).
 */
import type { Adapter } from "../adapters/adapter.ts"
import { fill } from "../adapters/lift.ts"
import { hasContentId } from "../adapters/message-ids.ts"
import { revisionOf, sourceOf } from "../adapters/shared/native.ts"
import { equalJson, type JsonValue, stringifyJson } from "../model/json.ts"
import type { Entry, Session } from "../model/session.ts"
import type { Sessions } from "../sessions/store.ts"

export interface Reconciler {
  /** Where what is new begins; behind it, once it was given. */
  readonly nextOrdinal: number
  /** The entries as they are to be stored. */
  reconcile(entries: readonly Entry[]): Entry[]
}

/** The record that a message holds, in the newest form that is stored. */
type Records = Map<string, JsonValue>

export async function createReconciler(
  { unchangedByUpgrade }: Pick<Adapter, "unchangedByUpgrade">,
  sessions: Sessions,
  session: Session,
): Promise<Reconciler> {
  const stored = await sessions.entries(session.id)
  const records = recordsOf(stored)
  const ids = new Set(stored.map(({ message }) => message.id))
  const nameless = namelessRecords(records, unchangedByUpgrade)
  let ordinal = stored.reduce((last, { message }) => Math.max(last, message.ordinal), -1) + 1
  return {
    get nextOrdinal() {
      return ordinal
    },
    reconcile: (entries) =>
      groupsOf(entries).flatMap((group): Entry[] => {
        const [first] = group
        if (first === undefined) return []
        const given = recordOf(group)
        const id = ids.has(first.message.id) ? first.message.id : nameless(given)
        if (id === undefined) return group.map((entry) => placed(entry, ordinal++))
        const known = records.get(id)
        if (known === undefined || given === undefined || equalJson(known, given)) return []
        records.set(id, given)
        return [revision(first, { id: revisionId(id, given, ids), of: id, record: given, ordinal: ordinal++ })]
      }),
  }
}

/** Finds the stored message, under an id that pond made, whose record this one is since its client gave it an id. */
function namelessRecords(
  records: Records,
  unchangedByUpgrade: Adapter["unchangedByUpgrade"],
): (record: JsonValue | undefined) => string | undefined {
  if (unchangedByUpgrade === undefined) return () => undefined
  const textOf = (record: JsonValue) => stringifyJson(unchangedByUpgrade(record))
  const ids = new Map<string, string[]>()
  for (const [id, record] of records) {
    if (!hasContentId(id)) continue
    const same = ids.get(textOf(record))
    if (same === undefined) ids.set(textOf(record), [id])
    else same.push(id)
  }
  // The same record twice is two records: the first of them is the first that comes again.
  return (record) => (record === undefined ? undefined : ids.get(textOf(record))?.shift())
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
