/**
 * A session of Vibe's store to canonical. What the model gets lies in chunks of messages without times; what a person sees in
 * chunks of entries that have them, and stays when messages were summed up. Entries whose messages are gone are messages.
 * Reads top to bottom: the files, the session, the chunks, an entry.
 */
import { type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Parser, RawRecord, SourceFile, SourceUnit } from "../adapter.ts"
import {
  matchIn,
  momentOf,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyTextUnder,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  timestampAt,
} from "../extract.ts"
import { injectedText, reasoningPart, textPart } from "../parts.ts"
import type { MessageDraft, SessionWriter } from "../session-writer.ts"
import type { KeyedDocument } from "../shared/keyed-list.ts"
import { itemRecord, readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, NOWHERE, type Spot, whole, wordUnder } from "../spot.ts"
import { messageDrafts, titleFacts } from "./messages.ts"
import { BRAND, chunksNamed, isChunk, messages, nameInGeneration } from "./records.ts"

interface Document {
  readonly raw: RawRecord
  readonly record: SourceValue
}

interface Chunk extends KeyedDocument {
  readonly raw: RawRecord
  readonly hash: string
}

export function parseStored({ files }: SourceUnit, main: SourceFile, writer: SessionWriter): Parser {
  const documents: Document[] = []
  let waited = files.filter(({ form }) => form === "document").length
  let isTaken = false

  /** All of them come before the journal, and are only understood together. */
  function takeDocuments(): void {
    if (isTaken) return
    isTaken = true
    const named = new Map<string, SourceValue>()
    for (const { raw, record } of documents) named.set(nameInSession(raw), record)
    begin(writer, main, named)
    const chunks: Chunk[] = []
    for (const { raw, record } of documents) {
      const place = raw.file.relativePath
      const split = isChunk(place) ? messages.split(record) : undefined
      if (split !== undefined) chunks.push({ ...split, raw, hash: /([0-9a-f]{64})\.json$/.exec(place)?.[1] ?? "" })
      else writer.carrier(raw, record, { id: idOfDocument(raw), pond: titleFacts(record) })
    }
    takeChunks(writer, chunks, named.get("manifest.json"))
  }

  return {
    push(raw) {
      const record = readJson(raw, writer)
      if (raw.file.form === "document") {
        if (record !== undefined) documents.push({ raw, record })
        if (--waited === 0) takeDocuments()
      }
      if (record === undefined || raw.file.form !== "log") return
      // Its lines are known by the hashes of their bytes.
      if (raw.form === "log" && stringifyJson(record) !== raw.text) writer.keepSpelling(raw)
      writer.carrier(raw, record)
    },
    end(isSettled = false) {
      if (writer.hasBegun || isSettled) takeDocuments()
      if (writer.hasBegun || isSettled) writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

function nameInSession({ file }: RawRecord): string {
  const place = file.relativePath
  return nameInGeneration(place) ?? place.slice(place.lastIndexOf("/") + 1)
}

/** What stands in a generation has its place in the one before: a newer one is a revision of it. */
function idOfDocument({ file }: RawRecord): Sealed<string> {
  const place = sealedRelativePath(file)
  return matchIn(place, /generations\/\d{16}\/([\w-]+\.json)$/) ?? place
}

// --- The session --------------------------------------------------------------------------------------------------------

const FOLDER = /([^/]+)\/[^/]+$/

function begin(writer: SessionWriter, main: SourceFile, named: ReadonlyMap<string, SourceValue>): void {
  if (writer.hasBegun) return
  const place = sealedRelativePath(main)
  const facts = named.get("meta.json") ?? null
  const state = named.get("runtime-state.json") ?? null
  const shown = named.get("projection-state.json") ?? null
  const createdAt = momentOf(facts, "start_time") ?? timestampAt(shown, "snapshot", "session", "createdAt")
  const parent =
    nonEmptyOf(facts, "parent_session_id") ?? nonEmptyStringAt(state, "session_metadata", "parent_session_id")
  const kind = nonEmptyStringAt(state, "identity", "kind")
  const isAgent = parent !== undefined && wordUnder(fieldsOf(state)["identity"], "kind") !== "root"
  writer.begin({
    id: nonEmptyOf(named.get("CURRENT") ?? null, "session_id") ?? matchIn(place, FOLDER) ?? place,
    sourceAgent: sealedOrigin(
      BRAND,
      isAgent ? (nonEmptyStringAt(state, "session_metadata", "agent_name") ?? kind) : undefined,
    ),
    project:
      nonEmptyStringAt(facts, "environment", "working_directory") ??
      nonEmptyStringAt(state, "session_metadata", "cwd") ??
      place,
    createdAt,
    // A session of 2.x that is opened goes on as a new one.
    parentSessionId: parent ?? nonEmptyStringAt(state, "import_provenance", "source", "session_id"),
    title: nonEmptyOf(facts, "title"),
  })
}

// --- Chunks ---------------------------------------------------------------------------------------------------------------

/** Chunks that the generation does not name any more come first: what they hold was said before. */
function takeChunks(writer: SessionWriter, chunks: readonly Chunk[], manifest: JsonValue | undefined): void {
  const order = new Map(
    [...chunksNamed(manifest, "checkpoint"), ...chunksNamed(manifest, "projection_state")]
      .entries()
      .map(([at, hash]) => [hash, at]),
  )
  const inOrder = [...chunks].sort((left, right) => (order.get(left.hash) ?? -1) - (order.get(right.hash) ?? -1))
  const shown = inOrder.flatMap(({ items }) => items.flatMap(({ item }) => (isEntry(item) ? [item] : [])))
  const moments = createMoments(shown)
  const known = new Set<string>()
  const said = new Set(inOrder.flatMap(({ items }) => items.flatMap(({ item }) => messageTexts(messageIn(item)))))
  const take = (chunk: Chunk, isTold: boolean) => {
    for (const { key, item, text, hash } of chunk.items) {
      if (known.has(key) || isEntry(item) !== isTold) continue
      known.add(key)
      const raw = itemRecord(chunk.raw, text, hash)
      if (isTold) takeEntry(writer, raw, item, said)
      else takeMessage(writer, raw, item, moments)
    }
  }
  for (const chunk of inOrder) writer.carrier(chunk.raw, chunk.header, { id: sealedRelativePath(chunk.raw.file) })
  for (const chunk of inOrder) take(chunk, true)
  for (const chunk of inOrder) take(chunk, false)
}

function messageIn(item: SourceValue): Spot {
  return inside(whole(item), "message") ?? NOWHERE
}

function isEntry(item: SourceValue): boolean {
  return wordUnder(item, "turnId") !== undefined || wordUnder(item, "inputEntryId") !== undefined
}

function takeMessage(writer: SessionWriter, raw: RawRecord, item: SourceValue, moments: Moments): void {
  const message = inside(whole(item), "message")
  if (message === undefined) {
    // What else lies in chunks is the catalogue of tools.
    writer.carrier(raw, item)
    return
  }
  const note = writer.noteOn(raw)
  const timestamp = moments.of(message)
  const drafts = messageDrafts(message, wordUnder(item, "source") === "injection", note)
  writer.record(raw, item, drafts, { timestamp })
}

// --- Entries ----------------------------------------------------------------------------------------------------------------

interface Moments {
  of(message: Spot): Sealed<string> | undefined
}

/** How far behind the last one an entry is looked for. */
const LOOK_AHEAD = 32

/** When a message was said: its entry comes behind that of the one before it, and says the same. */
function createMoments(entries: readonly SourceValue[]): Moments {
  let at = 0
  let last: Sealed<string> | undefined
  const find = (isMeant: (entry: SourceValue) => boolean) => {
    const found = entries.slice(at, at + LOOK_AHEAD).findIndex(isMeant)
    if (found < 0) return
    at += found
    const entry = entries[at] ?? null
    last = momentOf(entry, wordUnder(entry, "type") === "effect" ? "updatedAt" : "createdAt") ?? last
    if (wordUnder(entry, "type") === "effect") at++
  }
  return {
    of(message) {
      const role = wordUnder(message.value, "role")
      if (role === "tool") find((entry) => wordUnder(entry, "type") === "effect")
      else {
        const texts = new Set(messageTexts(message))
        if (texts.size > 0) find((entry) => entryTexts(whole(entry)).some((text) => texts.has(text)))
      }
      return last
    },
  }
}

/** What a message says, thoughts included. */
function messageTexts(message: Spot): string[] {
  return itemsOf(inside(message, "content")).flatMap((block) => {
    const text = wordUnder(block.value, "text")
    const inner = itemsOf(inside(block, "content")).flatMap((piece) => wordUnder(piece.value, "text") ?? [])
    return text === undefined ? inner : [text]
  })
}

function entryTexts(entry: Spot): string[] {
  const text = wordUnder(entry.value, "text")
  return text === undefined ? messageTexts(entry) : [text]
}

/** One whose message is there is kept beside it. A call has another form there, and its result: it tells by the text before it. */
function takeEntry(writer: SessionWriter, raw: RawRecord, item: SourceValue, said: ReadonlySet<string>): void {
  const entry = whole(item)
  const drafts = entryTexts(entry).some((text) => said.has(text)) ? [] : entryDrafts(entry)
  writer.record(raw, item, drafts, { timestamp: momentOf(item, "createdAt") })
}

function entryDrafts(entry: Spot): MessageDraft[] {
  const type = wordUnder(entry.value, "type")
  if (type === "reasoning") {
    const text = nonEmptyTextUnder(entry, "text")
    return text === undefined
      ? []
      : [{ role: "assistant", parts: [reasoningPart({ provenance: "conversational", text })] }]
  }
  if (type !== "message") return []
  const isModel = wordUnder(entry.value, "role") === "assistant"
  const texts = itemsOf(inside(entry, "content")).flatMap((block) => nonEmptyTextUnder(block, "text") ?? [])
  if (texts.length === 0) return []
  if (isModel)
    return [{ role: "assistant", parts: texts.map((text) => textPart({ provenance: "conversational", text })) }]
  const isTyped = wordUnder(entry.value, "source") === "turn_start"
  const parts = texts.map((text) =>
    isTyped ? textPart({ provenance: "conversational", text }) : injectedText(text, "system-reminder"),
  )
  return [{ role: "user", parts }]
}
