/**
 * For sources of which a session is one document with a list of messages, in a file or put together from rows: parse, context
 * and native restore, all but what a message says. Each message is a separate record, known by a hash of what it says.
 */
import { isJsonObject, type JsonObject } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import type { Adapter, RawRecord } from "../adapter.ts"
import { matchIn, sealedOrigin, sealedRelativePath } from "../extract.ts"
import { fill } from "../lift.ts"
import { asTitle, type Note } from "../notes.ts"
import {
  createSessionWriter,
  type MessageDraft,
  mainFileOf,
  type SessionStart,
  type SessionWriter,
} from "../session-writer.ts"
import { fromSource, type SourceValue } from "../source-value.ts"
import { type Spot, whole } from "../spot.ts"
import { keyedList } from "./keyed-list.ts"
import { keyedSerializer } from "./keyed-serializer.ts"
import { entriesByRecord, mainPlaceOf, sourceOf } from "./native.ts"
import { itemRecord, readJson } from "./read-json.ts"

/** What is known of a session: where its document does not say it, its file does. */
export type Known = {
  readonly [K in Exclude<keyof SessionStart, "reappends">]?: SessionStart[K] | undefined
}

export interface ListedReading {
  readonly brand: { readonly id: string }
  /** The key of the list. */
  readonly key: string
  readonly start: (document: SourceValue) => Known
  readonly title?: (document: SourceValue) => string | undefined
  /** Of an item: its id and its moment, where it has them. */
  readonly facts?: (item: SourceValue) => Pick<MessageDraft, "id" | "timestamp">
  readonly drafts: (item: Spot, note: Note) => MessageDraft[]
  readonly text?: DocumentOfText
}

/** For files that are no JSON: such a document made of their text, and the text again. */
export interface DocumentOfText {
  /** Undefined for a file that is kept as it lies. */
  readonly read: (raw: RawRecord) => JsonObject | undefined
  readonly write: (document: JsonObject) => string
}

export function listedDocument(reading: ListedReading): Pick<Adapter, "parse" | "context"> & {
  readonly native: Adapter["serialize"]["native"]
} {
  const list = keyedList({ key: reading.key, areRepeatsKept: true })

  const parse: Adapter["parse"] = (unit, sink, resume) => {
    const main = mainFileOf(unit)
    const writer = createSessionWriter(main, sink, resume)
    const place = sealedRelativePath(main)

    function begin(known: Known): void {
      const origin = sealedOrigin(reading.brand)
      const { id = matchIn(place, NAME), sourceAgent = origin, project = origin, pond, ...others } = known
      writer.begin({ ...others, ...(pond === undefined ? {} : { pond }), id, sourceAgent, project })
    }

    return {
      push(raw) {
        const document = reading.text === undefined ? readJson(raw, writer) : readAsDocument(raw, reading.text, writer)
        begin(document === undefined ? {} : reading.start(document))
        if (document === undefined) return
        const split = list.split(document)
        const pond = asTitle(reading.title?.(document))
        writer.carrier(raw, split?.header ?? document, { id: place, pond })
        const note = writer.noteOn(raw)
        for (const { item, text, hash } of split?.items ?? [])
          writer.record(itemRecord(raw, text, hash), item, reading.drafts(whole(item), note), reading.facts?.(item))
      },
      end: writer.end,
    }
  }

  /** What the newest document names, in its order, from the newest summary on. */
  const context = (log: SessionLog): readonly Entry[] => {
    const main = mainPlaceOf(log)
    const keyOf = list.keys()
    const items = new Map<string, readonly Entry[]>()
    let header: JsonObject | undefined
    for (const { newest, entries } of entriesByRecord(log)) {
      const { record, file = main } = sourceOf(newest)
      if (record === undefined || file !== main) continue
      if (isJsonObject(record) && list.named(record) !== undefined) header = record
      else items.set(keyOf(fill(record, entries)), entries)
    }
    const named = (header === undefined ? undefined : list.named(header)) ?? []
    const all = named
      .flatMap(([, key]) => items.get(key) ?? [])
      .filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
    return all.slice(Math.max(0, all.findLastIndex(isSummary)))
  }

  return { parse, context, native: (session, sink) => keyedSerializer(session, sink, list, reading.text?.write) }
}

/** A document that would not give the bytes back is none: its file is kept as it lies. */
function readAsDocument(
  raw: RawRecord,
  { read, write }: DocumentOfText,
  writer: SessionWriter,
): SourceValue | undefined {
  const document = read(raw)
  if (document !== undefined && "text" in raw && write(document) === raw.text) return fromSource(document)
  writer.whole(raw)
  return undefined
}

const NAME = /([^/]+)\.json$/

function isSummary({ parts }: Entry): boolean {
  return parts.some(({ options }) => (options["pond"] as JsonObject | undefined)?.["injected"] === "compact-summary")
}

/** A role that says nothing is no message. */
export function spoken(draft: MessageDraft & { readonly parts: readonly unknown[] }): MessageDraft[] {
  return draft.parts.length === 0 ? [] : [draft]
}
