/**
 * The first half of writing a session: its entries as rows, made without asking the store, so that it can be done beside
 * the writing of others. What only the store can tell (which messages are copies of another session's) comes afterwards.
 */
import type { Entry, Message, Session } from "../model/session.ts"
import { createBlobSink } from "./oversized.ts"
import { type IngestFacts, messageRow, partRows, type SessionFacts } from "./rows.ts"
import { createTermWriter, type Spoken } from "./search-text.ts"
import type { BlobRow, Lane, MessageRow, PartRow } from "./tables.ts"

/** A session, or the next stretch of one. The entries are in order; earlier ones may be stored already. */
export interface SessionBatch {
  readonly session: Session
  readonly entries: readonly Entry[]
}

/** The same as rows. The messages are in order, and the parts in the order of their messages. */
export interface PreparedBatch {
  readonly session: Session
  readonly messages: readonly MessageRow[]
  readonly parts: readonly PartRow[]
  readonly blobs: readonly BlobRow[]
}

/** Of one session: it remembers what was said last, by which the next short message is found too. */
export type Preparer = (batch: SessionBatch) => PreparedBatch

export function createPreparer(facts: IngestFacts, before: readonly Spoken[]): Preparer {
  const terms = createTermWriter(before)
  return ({ session, entries }) => {
    const blobs = createBlobSink()
    const sessionFacts: SessionFacts = { ...facts, sourceAgent: session.source_agent, project: session.project }
    const messages: MessageRow[] = []
    const parts: PartRow[] = []
    for (const entry of entries) {
      const row = messageRow(entry, sessionFacts, { lane: laneOf(session, entry.message), terms }, blobs)
      messages.push(row)
      for (const part of partRows(entry, row, blobs)) parts.push(part)
    }
    return { session, messages, parts, blobs: blobs.take() }
  }
}

function laneOf(session: Session, message: Message): Lane {
  const pond = message.options["pond"] as { replay_of?: unknown } | undefined
  if (pond?.replay_of !== undefined) return "replay"
  return session.source_agent.includes("/") ? "subagent" : "main"
}

const ROW_UNITS = 256

/** About how much memory the rows take: what a caller adds up to decide when to flush. */
export function preparedUnits({ messages, parts, blobs }: PreparedBatch): number {
  let units = 0
  for (const { content, search_text, search_terms, options } of messages) {
    units += ROW_UNITS + options.length
    units += (content?.length ?? 0) + (search_text?.length ?? 0) + (search_terms?.length ?? 0)
  }
  for (const { text, variant_data, options } of parts) {
    units += ROW_UNITS + options.length + variant_data.length + (text?.length ?? 0)
  }
  return blobs.reduce((sum, { bytes }) => sum + bytes.byteLength, units)
}
