/**
 * Cline to canonical: a session is a document that describes it, one with its messages and, once it was compacted, one with
 * what its model is sent since; a task of the extensions has its messages in a bare list and another list of what was shown.
 * Which messages are sent now is for `context.ts`. Reads top to bottom: the session, its documents, their messages.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Adapter, Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  joined,
  matchIn,
  momentOfDigits,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  plain,
  type Sealed,
  sealedModifiedAt,
  sealedOrigin,
  sealedRelativePath,
  timestampAt,
} from "../extract.ts"
import { createSessionWriter, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { itemRecord, readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, NOWHERE, whole, wordUnder } from "../spot.ts"
import type { Brand } from "./brands.ts"
import { splitKeyed } from "./keyed-list.ts"
import { saidDrafts, shownDrafts } from "./messages.ts"

const UI = /(?:^|\/)ui_messages\.json$/
const TRANSCRIPT = /(?:^|\/)([^/]+)\.messages\.json$/
const HISTORY = /(?:^|\/)(?:api_conversation_history|claude_messages)\.json$/

export function parserOf(brand: Brand): Adapter["parse"] {
  return (unit, sink, resume) => openParser(brand, unit, sink, resume)
}

function openParser(brand: Brand, unit: SourceUnit, sink: ParseSink, resume: ResumePoint | undefined): Parser {
  const main = unit.files.find(({ relativePath }) => TRANSCRIPT.test(relativePath)) ?? mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const place = sealedRelativePath(main)
  const start = openStart(brand, place, sealedModifiedAt(main) ?? place)
  const { state = null } = resume ?? {}
  const { keys, isTold: wasTold = false } = fieldsOf(state)
  const known = new Set<JsonValue>(Array.isArray(keys) ? keys : [])
  /** Whether what the model is sent is there: what was shown says it again then. */
  let isTold = wasTold === true
  const versions = new Set<string>()
  let hasRecords = false

  function takeList(raw: RawRecord, document: SourceValue): void {
    const split = splitKeyed(document)
    if (split === undefined) {
      takeWhole(writer, raw, document)
      return
    }
    const { relativePath } = raw.file
    isTold ||= HISTORY.test(relativePath) && split.items.length > 0
    writer.carrier(raw, split.header, { id: sealedRelativePath(raw.file) })
    for (const [index, { key, item, text, hash }] of split.items.entries()) {
      // What a compaction keeps of the messages is said once.
      if (known.has(key)) continue
      known.add(key)
      takeItem(itemRecord(raw, text, hash), item, { relativePath, index })
    }
  }

  function takeItem(raw: RawRecord, item: SourceValue, { relativePath, index }: Standing): void {
    const note = writer.noteOn(raw)
    const drafts = UI.test(relativePath) ? shown(item, index) : saidDrafts(whole(item), note)
    writer.record(raw, item, drafts)
  }

  function shown(item: SourceValue, index: number) {
    return isTold ? [] : shownDrafts(whole(item), index === 0)
  }

  return {
    push(raw) {
      hasRecords = true
      const record = readJson(raw, writer)
      if (record === undefined) return
      const version = wordUnder(wordUnder(record, "version") === undefined ? originOf(record) : null, "version")
      if (version !== undefined) versions.add(version)
      if (!writer.hasBegun) start.learn(raw, record)
      if (!writer.hasBegun && (isListFile(raw) || start.isKnown())) writer.begin(start.session())
      if (isListFile(raw)) takeList(raw, record)
      else takeWhole(writer, raw, record)
    },
    end(isSettled) {
      // An agent says in its own document what it is; all others are known by their names.
      if (!writer.hasBegun && hasRecords && (isSettled || !start.isAgent)) writer.begin(start.session())
      if (isSettled || writer.hasBegun) writer.end()
      return { state: { keys: [...known], isTold }, clientVersions: [...versions] }
    },
  }
}

/** Where a message stood. */
interface Standing {
  readonly relativePath: string
  readonly index: number
}

function isListFile({ file }: RawRecord): boolean {
  return /(?:\.messages|\.compaction|ui_messages|api_conversation_history|claude_messages)\.json$/.test(
    file.relativePath,
  )
}

function originOf(record: SourceValue): SourceValue {
  return isJsonObject(record) ? (record["origin"] ?? null) : null
}

/** Documents that say something of a session. Its title may change. */
function takeWhole(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const said = isJsonObject(record)
    ? (wordUnder(record["metadata"] ?? null, "title") ?? wordUnder(record, "task"))
    : undefined
  const pond = said === undefined || said === "" ? undefined : { title: firstLineOf(said) }
  writer.carrier(raw, record, { id: sealedRelativePath(raw.file), pond })
}

const TITLE_UNITS = 200

function firstLineOf(text: string): string {
  return (text.trim().split("\n")[0] ?? "").slice(0, TITLE_UNITS)
}

// --- The session ------------------------------------------------------------------------------------------------------

const FOLDER = /(?:^|\/)([^/]+)\/[^/]+$/
const DIRECTORY = /Current (?:Working|Workspace) Directory \(([^)\n]+)\) Files/
/** Sessions and tasks are named by the moment when they began. */
const BEGAN_MS = /(?:^|\/)(\d{13})(?:_[^/]*)?\/[^/]+$/

/** What is learned of a session before its messages are read. Files of an agent are next to those of its session. */
function openStart({ id: brand }: Brand, place: Sealed<string>, fallback: Sealed<string>) {
  const stem = matchIn(place, TRANSCRIPT)
  const folder = matchIn(place, FOLDER)
  const isAgent = stem !== undefined && plain(stem).startsWith("agent_")
  let id: Sealed<string> | undefined
  let project: Sealed<string> | undefined
  let createdAt: Sealed<string> | undefined
  let parent: Sealed<string> | undefined
  let kind: Sealed<string> | undefined
  let title: Sealed<string> | undefined
  return {
    isAgent,
    isKnown: () => !isAgent && project !== undefined,
    learn(raw: RawRecord, record: SourceValue) {
      project ??= nonEmptyOf(record, "cwd") ?? nonEmptyOf(record, "workspace") ?? directoryIn(record)
      parent ??=
        nonEmptyStringAt(record, "metadata", "fork", "forkedFromSessionId") ?? nonEmptyOf(record, "parentTaskId")
      title ??= nonEmptyStringAt(record, "metadata", "title") ?? nonEmptyOf(record, "task")
      if (isAgent && !isListFile(raw)) return
      kind ??= nonEmptyOf(record, "agent")
      id ??= nonEmptyOf(record, "sessionId")
      createdAt ??= timestampAt(record, "started_at") ?? timestampAt(record, "ts") ?? timestampAt(record, 0, "ts")
      createdAt ??= timestampAt(record, "messages", 0, "ts")
    },
    session() {
      const own = isAgent ? (id ?? joinedId(folder, stem)) : (stem ?? folder)
      return {
        id: own ?? place,
        sourceAgent: sealedOrigin({ id: brand }, isAgent ? kind : undefined),
        project: project ?? folder ?? place,
        createdAt: (isAgent ? undefined : momentOfDigits(matchIn(place, BEGAN_MS))) ?? createdAt ?? fallback,
        parentSessionId: isAgent ? folder : parent,
        title: isAgent ? undefined : title,
      }
    },
  }
}

function joinedId(folder: Sealed<string> | undefined, stem: Sealed<string> | undefined): Sealed<string> | undefined {
  return folder === undefined || stem === undefined ? undefined : joined([folder, stem], "__")
}

/** What the editor told the model of the directory, with the first thing that was said. */
function directoryIn(record: SourceValue): Sealed<string> | undefined {
  for (const block of itemsOf(inside(inside(whole(record), 0) ?? NOWHERE, "content"))) {
    const text = nonEmptyStringUnder(block, "text")
    const found = text && matchIn(text, DIRECTORY)
    if (found !== undefined) return found
  }
  return undefined
}
