/**
 * The sessions of one store, and the door of this layer. Everything above asks this for sessions. Only `search` reads
 * the tables, through `tables`; `FORMAT.md` describes them.
 */

import { PondError } from "../model/errors.ts"
import type { Entry, Session, SessionLog } from "../model/session.ts"
import type { Clock } from "../platform/host/clock.ts"
import type { Lifetime } from "../platform/host/host.ts"
import type { Effort } from "../substrate/maintain/maintenance-plan.ts"
import type { MaintenanceReport, Store, Table, TableStatistics } from "../substrate/table.ts"
import type { Columns } from "../substrate/table-definition.ts"
import { type Erasure, openErasure } from "./erase/erasure.ts"
import { type Identity, openIdentity, type Standing, standOf } from "./identity.ts"
import { type AnswerReads, openAnswerReads } from "./read/answer-reads.ts"
import { type Conversations, openConversations } from "./read/conversations.ts"
import { type AgentCount, countsByAgent, type StoreCounts, storeCounts } from "./read/counts.ts"
import { openPointReads, type PointReads, type PositionKind } from "./read/point-reads.ts"
import {
  type OrdinalRange,
  openLog,
  type Place,
  type Reading,
  readChildren,
  readEntries,
  readLog,
  readMessages,
  readPositions,
  readSession,
  readSessions,
  readTree,
  type StoredLog,
  type StoredTree,
} from "./read/read-sessions.ts"
import { openSessionLists, type SessionLists } from "./read/session-lists.ts"
import { openStoredRecords, type StoredRecords } from "./read/stored-records.ts"
import { openSuperseded, type Superseded } from "./read/superseded.ts"
import { openTitles, type Titles } from "./read/titles.ts"
import type { IngestFacts } from "./rows/row-codecs.ts"
import { BLOBS, COPIES, embeddingsTableNamed, MESSAGES, PARTS, SESSIONS, WORD_BLOCKS, WORD_SEGMENTS } from "./tables.ts"
import type { WordTables } from "./words/segment/segments.ts"
import { wordStatistics } from "./words/statistics.ts"
import { openWordLists, type WordList, type WordLists } from "./words/terms/word-list.ts"
import { openWordIndex, type WordIndex } from "./words/word-index.ts"
import { createFolding } from "./words/write/fold.ts"
import { type Copies, openCopies } from "./write/copies.ts"
import { type DivergenceCheck, openDivergenceCheck } from "./write/divergence.ts"
import type { Excludes } from "./write/exclusions.ts"
import { type Labels, openLabels } from "./write/labels.ts"
import { type Origins, openOrigins } from "./write/origins.ts"
import { type PreparedBatch, prepare, type SessionBatch } from "./write/prepare.ts"
import { openPresence, type Presence } from "./write/presence.ts"
import { type StoredWatch, watchStored } from "./write/watch-stored.ts"
import { writeUnlessDiverging } from "./write/write-arriving.ts"
import {
  type BatchResult,
  type LeftOut,
  type RecentSessions,
  type SessionTables,
  writePrepared,
} from "./write/write-sessions.ts"

export interface Sessions extends SessionLists, Identity {
  readonly store: Store
  readonly tables: SessionTables
  /** Point reads by key. Concurrent ones are batched into one read. */
  readonly points: PointReads
  readonly titles: Titles
  /** Messages that their client appended again later, which no reader is to see. */
  readonly superseded: Superseded
  /** Names, stars, tags and notes, which a person gave to sessions. */
  readonly labels: Labels
  /** Records in the order of storing, for what is counted of all of them. */
  readonly records: StoredRecords
  /** What answers of a search say beside their hits. */
  readonly answers: AnswerReads
  /** Messages by their words. */
  readonly words: WordIndex
  /** One flush: at most one commit per table. */
  write(batches: readonly SessionBatch[]): Promise<BatchResult[]>
  /** Writes rows that were made elsewhere. Does no maintenance: callers that flush repeatedly call `maintain("lookups")`. */
  writePrepared(batches: readonly PreparedBatch[]): Promise<BatchResult[]>
  /** What the rows of now say of their writing. */
  facts(): IngestFacts
  session(id: string): Promise<Session | undefined>
  sessions(ids: readonly string[]): Promise<Session[]>
  log(id: string): Promise<SessionLog>
  /** The same when it is asked for. */
  stored(id: string): Promise<StoredLog>
  /** With all its descendants. A cycle is an error. */
  tree(id: string): Promise<StoredTree>
  /** The sessions that this one continues, nearest first, as far as they are stored. */
  ancestors(id: string): Promise<SessionLog[]>
  children(id: string): Promise<Session[]>
  entries(id: string, ordinals?: OrdinalRange): Promise<Entry[]>
  /** Where the messages of a session stand, the last two kinds without those that are superseded: all, those that say something (conversation), or those that are no carriers. */
  places(id: string, kind: PositionKind): Promise<Place[]>
  /** A message id is unique only in its session: without one, every message of that id. */
  messages(messageId: string, sessionId?: string): Promise<Entry[]>
  /** One flush of what came by the wire. A session that says something else than what is stored under its id is rejected. */
  writeArriving(batches: readonly SessionBatch[]): Promise<BatchResult[]>
  /** Which projects are not stored, on this machine, and whether there are any. */
  readonly excludes: Excludes
  readonly excludesAny: boolean
  /** Which sessions are erased, and how more are. */
  readonly erasure: Erasure
  /** Which sessions came from elsewhere. */
  readonly origins: Origins
  /** Which sessions pond wrote into clients. */
  readonly copies: Copies
  /** Which sessions are one conversation: a session, and what pond wrote of it into clients. */
  readonly conversations: Conversations
  /** Whether rows of stored sessions go with what is stored; `isSource`: whether they come from where that came from. */
  divergenceCheck(ids: readonly string[], isSource: (id: string) => boolean): Promise<DivergenceCheck>
  /** Notices what others store from now on. */
  watchStored(): Promise<StoredWatch>
  /** What an import asks of the store: which sessions and messages it holds already. */
  presence(): Presence
  counts(): Promise<StoreCounts>
  /** How many sessions there are of each client and each kind of its sub-agents, most first. */
  countsByAgent(): Promise<readonly AgentCount[]>
  /** What lies on the disk of each table that was ever written, and how far its indexes reach. */
  statistics(): Promise<readonly TableFacts[]>
  /** The words of all messages, for what is looked for within words. */
  wordList(): Promise<WordList | undefined>
  /** The number of messages with text, without copies of other sessions' messages. */
  spoken(): Promise<number>
  /** Builds and folds indexes, compacts and cleans: what a running import needs, what pays, or all of it. */
  maintain(effort: Effort, options?: MaintainOptions): Promise<readonly TableMaintenance[]>
  /** After maintenance of single tables: see `opening.ts`. `maintain` does it itself. */
  gatherOpening(done: readonly MaintenanceReport[]): Promise<void>
  /** Opens what a search asks, side by side: in a bucket each table takes two requests, one after the other. */
  opened(): Promise<void>
  /** Every table that was ever written, those of vectors among them: for work that goes through all of the store. */
  written(): Promise<readonly WrittenTable[]>
  close(): void
}

export interface TableFacts extends TableStatistics {
  readonly table: string
}

export interface TableMaintenance extends MaintenanceReport {
  readonly table: string
}

export interface MaintainOptions {
  /** Waited for between two tables. */
  readonly stepAside?: (() => Promise<void>) | undefined
  /** How the store stood when nothing was due: a table that stands so still is not asked. */
  readonly idleSignature?: string | undefined
}

export interface WrittenTable extends Pick<Table<Columns>, "maintain" | "statistics"> {
  readonly name: string
}

export interface SessionsContext {
  readonly clock: Clock
  /** The machine that writes, kept with every row. */
  readonly host: string
  /** Which projects are not stored. */
  readonly excludes?: Excludes
  /** A server keeps in memory what answers need again and again. */
  readonly lifetime?: Lifetime
}

export function openSessions(store: Store, context: SessionsContext): Sessions {
  const tables: SessionTables = {
    sessions: store.table(SESSIONS),
    messages: store.table(MESSAGES),
    parts: store.table(PARTS),
    blobs: store.table(BLOBS),
  }
  const titles = openTitles(tables, context.lifetime)
  const superseded = openSuperseded(tables, context.lifetime)
  const reading: Reading = { tables, points: openPointReads(tables), titles, learn: superseded.learn }
  const wordTables: WordTables = {
    messages: tables.messages,
    segments: store.table(WORD_SEGMENTS),
    blocks: store.table(WORD_BLOCKS),
  }
  const wordLists = openWordLists(store, tables.messages)
  const words = openWordMaintenance(wordTables, wordLists, context.clock, store.location.backend !== "local")
  const origins = openOrigins(store, context.clock)
  const facts = () => ({ ingestedAtMicros: BigInt(Math.trunc(context.clock.nowMs())) * 1000n, host: context.host })
  const keptOut = { erasure: openErasure(store, tables, facts), ...openExclusions(context) }
  return {
    store,
    ...reading,
    superseded,
    labels: openLabels(store, context),
    records: openStoredRecords(tables),
    ...openSessionLists(store, tables, { titles, superseded }),
    answers: openAnswerReads(tables, titles, context.lifetime),
    words: openWordIndex(wordTables, context.lifetime),
    wordList: () => wordLists.current(),
    spoken: () => wordLists.spoken(),
    ...openWriter(store, tables, { facts, origins, ...keptOut }),
    ...keptOut,
    origins,
    divergenceCheck: (ids, isSource) => openDivergenceCheck(tables, ids, isSource),
    copies: openCopies(store, context.clock),
    conversations: openConversations(tables, origins, context.lifetime),
    facts,
    ...openLogs(reading),
    places: async (id, kind) => {
      if (kind === "all") return await readPositions(reading, id, kind)
      const [positions, gone] = await Promise.all([readPositions(reading, id, kind), superseded([id])])
      return gone.count === 0 ? positions : positions.filter((each) => !gone.has(id, each.id))
    },
    watchStored: () => watchStored(store, tables),
    presence: () => openPresence(tables),
    counts: () => storeCounts(tables),
    countsByAgent: () => countsByAgent(tables),
    statistics: async () => {
      const asked = [
        ...Object.entries(tables).map(async ([table, handle]) => ({ table, found: await handle.statistics() })),
        words.statistics().then((found) => ({ table: "words", found })),
      ]
      return (await Promise.all(asked)).flatMap(({ table, found }) => (found === undefined ? [] : { table, ...found }))
    },
    maintain: async (effort, { stepAside, idleSignature } = {}) => {
      if (effort !== "lookups") await store.removeStaleStaging()
      const rested = idleSignature?.split(" ") ?? []
      const reports: TableMaintenance[] = []
      for (const [place, [table, handle]] of Object.entries(tables).entries()) {
        reports.push({ table, ...(await maintainedSince(rested[place], handle, effort)) })
        await stepAside?.()
      }
      reports.push({ table: words.name, ...(await words.maintain(effort)) })
      await stepAside?.()
      if (effort !== "lookups") await gatherOpening(store, reports)
      return reports
    },
    gatherOpening: (done) => gatherOpening(store, done),
    opened: openEarly(
      store,
      [tables.messages, wordTables.segments, wordTables.blocks],
      [tables.sessions, tables.parts],
    ),
    ...openIdentity(store, tables, wordTables),
    written: async () => [...(await writtenTables(store, tables)), words],
    close: () => store.close(),
  }
}

async function gatherOpening(store: Store, done: readonly MaintenanceReport[]): Promise<void> {
  if (store.location.backend !== "local") await (await import("./opening.ts")).refreshOpening(store, done)
}

type Logs = "session" | "sessions" | "log" | "stored" | "tree" | "ancestors" | "children" | "entries" | "messages"

function openLogs(reading: Reading): Pick<Sessions, Logs> {
  return {
    session: (id) => readSession(reading, id),
    sessions: (ids) => readSessions(reading, ids),
    log: (id) => readLog(reading, id),
    stored: (id) => openLog(reading, id),
    tree: (id) => readTree(reading, id),
    ancestors: (id) => ancestorsOf(reading, id),
    children: (id) => readChildren(reading, id),
    entries: (id, ordinals) => readEntries(reading, id, ordinals),
    messages: (messageId, sessionId) => readMessages(reading, messageId, sessionId),
  }
}

interface WriteContext {
  readonly facts: () => IngestFacts
  readonly origins: Origins
  readonly erasure: Erasure
  readonly excludes: Excludes
}

function openExclusions({ excludes }: SessionsContext): Pick<Sessions, "excludes" | "excludesAny"> {
  return { excludes: excludes ?? (() => false), excludesAny: excludes !== undefined }
}

/**
 * The owner of a session and the messages that it copies are asked before it is written. Two processes that asked at once
 * would both be told that there is none, so a write holds the lock of the store.
 */
function openWriter(
  store: Store,
  tables: SessionTables,
  { facts, origins, erasure, excludes }: WriteContext,
): Pick<Sessions, "write" | "writePrepared" | "writeArriving"> {
  const recent: RecentSessions = new Map()
  const copies = store.table(COPIES)
  const refuse = async (batches: readonly PreparedBatch[]) => {
    const left = new Map<string, LeftOut>()
    for (const { session } of batches) if (excludes(session.project)) left.set(session.id, "excluded")
    for (const id of await erasure.refuse(batches)) left.set(id, "erased")
    return left
  }
  const writeLocked = (batches: readonly PreparedBatch[]) =>
    writePrepared(tables, batches, facts(), { recent, copies, refuse })
  const prepareAll = (batches: readonly SessionBatch[]) => batches.map((batch) => prepare(batch, facts()))
  // The next write must find these rows by their keys, however many writes there are.
  const afterwards = () => Promise.all([tables.messages.maintain("lookups"), tables.parts.maintain("lookups")])
  const writePreparedBatches = async (batches: readonly PreparedBatch[]) =>
    batches.length === 0 ? [] : await store.withWriteLock(() => writeLocked(batches))
  return {
    write: async (batches) => {
      if (batches.length === 0) return []
      const results = await writePreparedBatches(prepareAll(batches))
      await afterwards()
      return results
    },
    writePrepared: writePreparedBatches,
    writeArriving: async (batches) => {
      const write = async (accepted: readonly SessionBatch[]) =>
        accepted.length === 0 ? [] : await writeLocked(prepareAll(accepted))
      const results = await store.withWriteLock(() => writeUnlessDiverging(tables, origins, batches, write))
      await afterwards()
      return results
    },
  }
}

function openWordMaintenance(tables: WordTables, lists: WordLists, clock: Clock, isRemote: boolean): WrittenTable {
  const fold = createFolding(tables, clock)
  return {
    name: "words",
    maintain: async (effort) => {
      // One after the other: of a million messages at once both together took 640 MB and 44 s, in turn 490 MB and 47 s.
      const work = async () => {
        const report = await fold(effort)
        await lists.extend(effort)
        if (!isRemote || effort !== "due" || report.steps.length > 0) return report
        // In a bucket what a fold has left is removed an hour after it.
        const rested = [await tables.blocks.maintain(effort), await tables.segments.maintain(effort)]
        return { ...report, steps: rested.flatMap(({ steps }) => steps) }
      }
      return await work().catch(busyIfLost)
    },
    statistics: () => wordStatistics(tables),
  }
}

/** In a bucket another machine may fold the same messages: whoever was first has done it. */
function busyIfLost(error: unknown): MaintenanceReport {
  if (error instanceof PondError && error.code === "conflict") return { isBusy: true, steps: [] }
  throw error
}

type Maintained = Standing & Pick<Table<Columns>, "maintain">

async function maintainedSince(
  rested: string | undefined,
  table: Maintained,
  effort: Effort,
): Promise<MaintenanceReport> {
  const isAsRested = rested !== undefined && rested === (await standOf(table))
  return isAsRested ? { isBusy: false, steps: [] } : await table.maintain(effort)
}

/**
 * Opens tables ahead of their first read. On a disk nothing waits for it: the first read of a table waits for that table,
 * and reports it where it cannot be opened. Tables that only an answer needs are opened once something is found.
 */
function openEarly(store: Store, asked: readonly Openable[], ofAnswers: readonly Openable[]): () => Promise<void> {
  let isBegun = false
  return async () => {
    const isLocal = store.location.backend === "local"
    if (isLocal && isBegun) return
    isBegun = true
    const opening = Promise.all((isLocal ? asked : [...asked, ...ofAnswers]).map((table) => table.version()))
    if (isLocal) opening.catch(() => undefined)
    else await opening
  }
}

type Openable = Pick<Table<Columns>, "version">

async function writtenTables(store: Store, tables: SessionTables): Promise<WrittenTable[]> {
  const names = await store.names()
  const own = Object.entries(tables).flatMap(([name, { maintain, statistics }]) =>
    names.includes(name) ? { name, maintain, statistics } : [],
  )
  const vectors = names.flatMap((name) => {
    const definition = embeddingsTableNamed(name)
    return definition === undefined ? [] : { ...store.table(definition), name }
  })
  return [...own, ...vectors]
}

async function ancestorsOf(reading: Reading, id: string): Promise<SessionLog[]> {
  const logs: SessionLog[] = []
  const met = new Set([id])
  let parent = (await readSession(reading, id))?.parent_session_id
  while (parent !== undefined && !met.has(parent)) {
    met.add(parent)
    const session = await readSession(reading, parent)
    if (session === undefined) break
    logs.push({ session, entries: await readEntries(reading, parent) })
    parent = session.parent_session_id
  }
  return logs
}
