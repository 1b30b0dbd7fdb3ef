/**
 * A source that was rewritten is read again from its beginning. What is stored stays as it is (`lance-append-only`); what
 * is new comes behind it; a record that changed under the same id is appended as a revision with the whole new record,
 * and native restore writes the newest (`adapter-integrity-additive-sync`).
 */
import { fill } from "../adapters/lift.ts"
import { revisionOf, sourceOf } from "../adapters/shared/native.ts"
import { equalJson, type JsonValue, stringifyJson } from "../model/json.ts"
import type { Entry, Session } from "../model/session.ts"
import type { Sessions } from "../sessions/store.ts"

export interface Reconciler {
  /** Where what is new begins. */
  readonly nextOrdinal: number
  /** The entries as they are to be stored. */
  reconcile(entries: readonly Entry[]): Entry[]
}

/** The record that a message holds, in the newest form that is stored. */
type Records = Map<string, JsonValue>

export async function createReconciler(sessions: Sessions, session: Session): Promise<Reconciler> {
  const stored = await sessions.entries(session.id)
  const records = recordsOf(stored)
  const ids = new Set(stored.map(({ message }) => message.id))
  let ordinal = stored.reduce((last, { message }) => Math.max(last, message.ordinal), -1) + 1
  return {
    nextOrdinal: ordinal,
    reconcile: (entries) =>
      groupsOf(entries).flatMap((group): Entry[] => {
        const [first] = group
        if (first === undefined) return []
        const known = records.get(first.message.id)
        const given = recordOf(group)
        if (!ids.has(first.message.id)) return group.map((entry) => placed(entry, ordinal++))
        if (known === undefined || given === undefined || equalJson(known, given)) return []
        records.set(first.message.id, given)
        return [revision(first, given, ordinal++)]
      }),
  }
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

function revision({ message }: Entry, record: JsonValue, ordinal: number): Entry {
  const { of: _, lift: __, ...source } = sourceOf(message)
  const hash = Bun.hash.xxHash64(stringifyJson(record)).toString(16).padStart(16, "0")
  return {
    message: {
      id: `${message.id}@${hash}`,
      session_id: message.session_id,
      ordinal,
      timestamp: message.timestamp,
      role: "system",
      content: "",
      options: { source: { ...source, record }, pond: { revision_of: message.id } },
    },
    parts: [],
  }
}
