/**
 * The tables of sessions: what is a column, what is a key, what is indexed. Every key below `sessions` begins with the
 * session (`lance-table-creation-session-scoped-pk`, `lance-forward-compat-shardable`). Filter columns are copied onto every table that is searched, because a search filters and ranks in
 * one pass over one table; `sessions` stays the authority for every other read.
 */
import {
  blob,
  bool,
  bytes,
  defineTable,
  int32,
  int64,
  nullable,
  packed,
  type RowOf,
  timestampUs,
  utf8,
  vector,
} from "../substrate/table-definition.ts"

const SCHEMA_VERSION = 1
/** Of messages that keep their terms only where they cannot be made again: builds that made no terms would find nothing. */
const MESSAGES_VERSION = 2
/** Of blobs whose bytes are compressed: see `blob-packing.ts`. */
const BLOBS_VERSION = 2
/** Segments with compressed columns: see `words/FORMAT.md`. */
const WORDS_VERSION = 2

/** JSON columns are text: the engine's own JSON sorts keys and cannot be searched for an exact string. */
const json = () => packed(utf8())

export const SESSIONS = defineTable({
  name: "sessions",
  schemaVersion: SCHEMA_VERSION,
  erasable: true,
  columns: {
    id: utf8(),
    parent_session_id: nullable(utf8()),
    parent_message_id: nullable(utf8()),
    source_agent: utf8(),
    created_at: timestampUs(),
    project: utf8(),
    title: nullable(utf8()),
    options: json(),
    ingested_at: timestampUs(),
    host: utf8(),
  },
  key: ["id"],
  indexes: [
    { kind: "btree", column: "id" },
    { kind: "btree", column: "parent_session_id" },
  ],
})

/**
 * Where search looks for a message: `main` is the conversation with the person, `subagent` what an agent's agents said,
 * `replay` a copy of what another session holds already, which search and statistics count there alone. `title` is the lane
 * of records that say nothing but how the session is called: the last one is found without reading the others.
 */
export type Lane = "main" | "subagent" | "replay" | "title"

/** The columns that every searched table filters by. */
const filterColumns = {
  source_agent: utf8(),
  project: utf8(),
  timestamp: timestampUs(),
  lane: utf8(),
}

export const MESSAGES = defineTable({
  name: "messages",
  schemaVersion: MESSAGES_VERSION,
  erasable: true,
  columns: {
    session_id: utf8(),
    id: utf8(),
    ordinal: int32(),
    role: utf8(),
    ...filterColumns,
    /** Of system messages alone. */
    content: nullable(packed(utf8())),
    search_text: nullable(utf8()),
    /** The terms of a text that lies in the blobs. Those of others are made of the text: see `words/terms/message-terms.ts`. */
    search_terms: nullable(packed(utf8())),
    options: json(),
    ingested_at: timestampUs(),
    host: utf8(),
  },
  key: ["session_id", "id"],
  indexes: [
    { kind: "btree", column: "session_id" },
    { kind: "btree", column: "id" },
    { kind: "btree", column: "timestamp" },
    { kind: "bitmap", column: "project" },
    { kind: "bitmap", column: "source_agent" },
    { kind: "bitmap", column: "role" },
    { kind: "bitmap", column: "lane" },
  ],
})

export const PARTS = defineTable({
  name: "parts",
  schemaVersion: SCHEMA_VERSION,
  erasable: true,
  columns: {
    session_id: utf8(),
    message_id: utf8(),
    id: utf8(),
    /** The position in its message, and of its message in the session. */
    ordinal: int32(),
    message_ordinal: int32(),
    type: utf8(),
    role: utf8(),
    ...filterColumns,
    provenance: utf8(),
    tool_name: nullable(utf8()),
    call_id: nullable(utf8()),
    is_failure: nullable(bool()),
    /** The main text, stored once and exactly: of a text, of reasoning, of a tool result that is a string. */
    text: nullable(packed(utf8())),
    /** What else the type of the part has, as JSON. */
    variant_data: json(),
    options: json(),
  },
  key: ["session_id", "message_id", "id"],
  indexes: [
    { kind: "btree", column: "session_id" },
    // A walk through tool output goes back in time window by window: without it each window would read all of time.
    { kind: "btree", column: "timestamp" },
    { kind: "bitmap", column: "type" },
  ],
})

/** Sessions that came by an export file, a copied store or the wire. Absent where none did. */
export const ORIGINS = defineTable({
  name: "origins",
  schemaVersion: 1,
  columns: { session_id: utf8(), arrival: utf8(), noted_at: timestampUs() },
  key: ["session_id"],
  indexes: [],
})

/** Sessions that pond wrote into a client as copies of others, with what it wrote: see `write/copies.ts`. Absent where it wrote none. */
export const COPIES = defineTable({
  name: "copies",
  schemaVersion: 1,
  columns: {
    session_id: utf8(),
    copy_of: utf8(),
    noted_at: timestampUs(),
    /** xxHash64 of `messages`. Of a long copy, and of one that was written again with more in it, there are several. */
    piece: utf8(),
    messages: packed(utf8()),
  },
  key: ["session_id", "piece"],
  indexes: [],
})

/** What a person says about sessions: of each label the last row counts. Absent where nothing was said. */
export const LABELS = defineTable({
  name: "labels",
  schemaVersion: 1,
  erasable: true,
  columns: {
    session_id: utf8(),
    /** Of the moment, the machine and the label: what is said twice at once is two rows. */
    id: utf8(),
    /** `name`, `star`, `tag` or `note`. */
    field: utf8(),
    value: utf8(),
    noted_at: timestampUs(),
    is_set: bool(),
    host: utf8(),
  },
  key: ["session_id", "id"],
  indexes: [],
})

/** Content-addressed bytes, stored once: attachments, and values too large for a column. */
export const BLOBS = defineTable({
  name: "blobs",
  schemaVersion: BLOBS_VERSION,
  /** `sha256` and `size` are those of the bytes as they were given. */
  columns: { sha256: utf8(), size: int64(), bytes: blob() },
  key: ["sha256"],
  indexes: [{ kind: "btree", column: "sha256" }],
})

/**
 * Vectors lie apart: filling a column of `messages` would rewrite its rows, which drops them from every index until the
 * next fold. One table per dimension; a change of model writes new rows and drops the old model's.
 */
export function embeddingsTable(dimension: number) {
  return defineTable({
    name: `embeddings_${dimension}`,
    schemaVersion: SCHEMA_VERSION,
    derived: true,
    erasable: true,
    columns: {
      session_id: utf8(),
      message_id: utf8(),
      model: utf8(),
      /** Which window of the message: 0, and more where its text is longer than the model reads at once. */
      piece: int32(),
      role: utf8(),
      ...filterColumns,
      /** As the message has it: pages of an answer keep to what was stored when it began. */
      ingested_at: timestampUs(),
      vector: vector(dimension),
    },
    key: ["session_id", "message_id", "model", "piece"],
    indexes: [
      { kind: "btree", column: "session_id" },
      { kind: "bitmap", column: "model" },
      { kind: "bitmap", column: "lane" },
      { kind: "bitmap", column: "project" },
      { kind: "ivf_rq", column: "vector", distance: "cosine", rowsMin: 100_000 },
    ],
  })
}

const EMBEDDINGS = /^embeddings_([1-9]\d{0,4})$/

/** The table of vectors of that name, if it is one. */
export function embeddingsTableNamed(name: string): ReturnType<typeof embeddingsTable> | undefined {
  const dimension = EMBEDDINGS.exec(name)?.[1]
  return dimension === undefined ? undefined : embeddingsTable(Number(dimension))
}

/**
 * The index of words: segments, each of the messages between two row numbers, made of what they say. A segment
 * counts once its row is there, which is written after its blocks; see `words/`.
 */
export const WORD_SEGMENTS = defineTable({
  name: "word_segments",
  schemaVersion: WORDS_VERSION,
  derived: true,
  columns: {
    id: utf8(),
    /** The messages of it: from this row number to the one before that. */
    from_row: int64(),
    to_row: int64(),
    /** The key of the last of them: where that is another by now, the table was healed and the segment is of no use. */
    last_key: utf8(),
    count: int64(),
    tokens: int64(),
    blocks: int32(),
    lengths: bytes(),
    session_id: bytes(),
    role: bytes(),
    source_agent: bytes(),
    project: bytes(),
    lane: bytes(),
    timestamp: bytes(),
    ingested_at: bytes(),
    ordinal: bytes(),
  },
  key: ["id"],
  indexes: [],
})

/** Which messages of a segment hold which terms: terms in order, some kilobytes of them together. */
export const WORD_BLOCKS = defineTable({
  name: "word_blocks",
  schemaVersion: WORDS_VERSION,
  derived: true,
  columns: {
    segment: utf8(),
    block: int32(),
    first_term: utf8(),
    terms: utf8(),
    lists: bytes(),
  },
  key: ["segment", "block"],
  indexes: [],
})

/**
 * Every word of the messages up to a place in the order of storing, so that a part of a word leads to the words that hold
 * it and they, by the index, to the messages. One list adds to another; which message stood last proves that the places
 * are still those of this table.
 */
export const WORD_LISTS = defineTable({
  name: "word_lists",
  schemaVersion: SCHEMA_VERSION,
  derived: true,
  columns: {
    reach: int64(),
    piece: int32(),
    spoken: int32(),
    last_session_id: utf8(),
    last_message_id: utf8(),
    words: packed(utf8()),
  },
  key: ["reach", "piece"],
  indexes: [],
})

export type SessionRow = RowOf<(typeof SESSIONS)["columns"]>
export type MessageRow = RowOf<(typeof MESSAGES)["columns"]>
export type PartRow = RowOf<(typeof PARTS)["columns"]>
export type BlobRow = RowOf<(typeof BLOBS)["columns"]>
