/**
 * pi to canonical: one log for each session, a header and then entries, in the order of the file. From v2 on the entries
 * form a tree by `id` and `parentId`; that tree is for `context.ts`. v4 says a `kind` in front: an entry as before,
 * bookkeeping of the harness, or a list of what was committed together.
 * Reads top to bottom: the log, its header, an entry, a message (its blocks: `blocks.ts`). What is not named stays in its record.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  fingerprintOf,
  matchIn,
  momentOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  plain,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
  timestampAt,
  valueAt,
} from "../extract.ts"
import { injectedText, type PartDraft, textPart } from "../parts.ts"
import { createSessionWriter, isFilled, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, NOWHERE, type Spot, whole, wordUnder } from "../spot.ts"
import {
  asList,
  assistantBlock,
  blockView,
  contentParts,
  injectedBlock,
  isPresent,
  mentionedParts,
  toldBlock,
  toolResult,
  typedParts,
  type View,
} from "./blocks.ts"
import type { Brand } from "./brands.ts"
import { kindIn, pushIndexEntry } from "./openclaw-index.ts"

export function parserOf(brand: Brand) {
  return (unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser => {
    const file = mainFileOf(unit)
    const writer = createSessionWriter(file, sink, resume)
    const isAgent = AGENT.test(file.relativePath)
    const seen = resume?.seen ?? new Set<string>()
    let entry = wordUnder(resume?.state ?? null, "entry")
    let header: SourceValue = null

    function takeLine(raw: RawRecord, record: SourceValue): void {
      // Of a database all lines come each time.
      if (unit.row !== undefined && isStored(record, seen)) return
      // Without a header (a crash took it) the name of the file still says whose entries these are.
      const isFirst = isHeader(record)
      if (isFirst) header = record
      // What an agent is stands behind the header.
      if (!writer.hasBegun && (!isAgent || SAYS_AGENT.has(wordUnder(record, "type"))))
        begin({ writer, brand, unit }, header, nonEmptyStringAt(record, "agent"))
      if (isFirst) pushHeader(writer, raw, record)
      else pushEntry({ writer, brand, isListed: unit.row !== undefined }, raw, record)
    }

    return {
      push(raw) {
        if (brand.listing !== undefined && raw.form === "document") {
          entry = pushIndexEntry({ writer, seen, known: entry }, raw) ?? entry
          return
        }
        const record = raw.file.form === "log" ? readJson(raw, writer) : undefined
        if (raw.file.form !== "log") writer.whole(raw)
        else if (record === undefined) return
        else if (isTitleSlot(record)) pushTitleSlot(writer, raw, record)
        else takeLine(raw, record)
      },
      end(isSettled) {
        const waits = isAgent && !writer.hasBegun && header !== null
        if (waits && isSettled) begin({ writer, brand, unit }, header)
        if (!waits || isSettled) writer.end()
        return { state: entry === undefined ? null : { entry }, clientVersions: [] }
      },
    }
  }
}

/** Whether a line of a database was read before. */
function isStored(record: SourceValue, seen: ReadonlySet<string>): boolean {
  return seen.size > 0 && seen.has(plain(nonEmptyStringAt(record, "id") ?? idOfUnnamed(record)))
}

function idOfUnnamed(record: SourceValue): Sealed<string> {
  return fingerprintOf(record, Object.keys(fieldsOf(record)))
}

/** An agent of oh-my-pi lies in the folder of the session that started it, and says first what it is. */
const AGENT = /\d{4}-\d\d-\d\dT[^/]*_[^/]+\/[^/]+\.jsonl$/
const SAYS_AGENT: ReadonlySet<string | undefined> = new Set(["session_init", "message"])

/** oh-my-pi keeps the name of the session in a first line of 256 bytes, which it writes over. */
function isTitleSlot(record: SourceValue): boolean {
  return wordUnder(record, "type") === "title" && valueAt(record, "pad") !== undefined
}

function pushTitleSlot(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const title = valueAt(record, "title")
  writer.carrier(raw, record, {
    ...{ id: nonEmptyStringAt(record, "type"), timestamp: timestampAt(record, "updatedAt") },
    pond: typeof title === "string" && title !== "" ? { title } : undefined,
  })
}

// --- The header -------------------------------------------------------------------------------------------------------

/** `--<directory>--/<time>_<id>.jsonl`, where people may choose the id. */
const DIRECTORY = /(?:^|\/)(-[^/]*)\/[^/]*$/
const NAME = /\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_([^/\\]+)\.jsonl$/
const NEWEST_VERSION = 4

function isHeader(record: SourceValue): boolean {
  return wordUnder(record, "type") === "session" || wordUnder(record, "kind") === "header"
}

/** Does nothing where neither a header nor the name of the file says which session it is. */
function begin({ writer, brand, unit }: Beginning, header: SourceValue, agent?: Sealed<string>): void {
  const file = mainFileOf(unit)
  const place = sealedRelativePath(file)
  const id = nonEmptyStringAt(header, "id") ?? matchIn(place, NAME)
  const project = nonEmptyStringAt(header, "cwd") ?? matchIn(place, DIRECTORY)
  const createdAt = headerTime(header)
  if (project === undefined) return
  const [listed] = brand.listing === undefined ? [] : (unit.beside ?? [])
  const parentSessionId = parentOf(header) ?? nonEmptyStringAt(unit.parent ?? null, "id")
  const sourceAgent = sealedOrigin(brand, agent ?? kindIn(listed))
  writer.begin({ id, sourceAgent, project, createdAt, parentSessionId })
}

interface Beginning {
  readonly writer: SessionWriter
  readonly brand: Brand
  readonly unit: SourceUnit
}

function headerTime(header: SourceValue): Sealed<string> | undefined {
  return timestampAt(header, "timestamp") ?? timestampAt(header, "createdAt")
}

/** A fork names the file of its parent, which holds the parent's id; from v4 on it names the parent. */
function parentOf(header: SourceValue): Sealed<string> | undefined {
  const path =
    nonEmptyStringAt(header, "parentSession") ??
    nonEmptyStringAt(header, "branchedFrom") ??
    nonEmptyStringAt(header, "legacyParentSessionPath")
  return nonEmptyStringAt(header, "parentSessionId") ?? (path === undefined ? undefined : matchIn(path, NAME))
}

function pushHeader(writer: SessionWriter, raw: RawRecord, header: SourceValue): void {
  const version = valueAt(header, "version") ?? valueAt(header, "v")
  if (typeof version === "number" && version > NEWEST_VERSION)
    writer.issue(raw, { kind: "unknown_version", severity: "note", found: `a log of version ${version}` })
  // oh-my-pi names a session in its header where it has no line for the name.
  const title = raw.line === 1 ? valueAt(header, "title") : undefined
  const pond = typeof title === "string" ? { title } : undefined
  writer.carrier(raw, header, { id: nonEmptyStringAt(header, "id"), timestamp: headerTime(header), pond })
}

/**
 * Opening a log of v1, pi writes it anew: its entries become a tree, a compaction names what it keeps by id, and what an
 * extension said has another role.
 */
export function unchangedByUpgrade(record: JsonValue): JsonValue {
  if (!isJsonObject(record)) return record
  const { id: _, parentId: __, firstKeptEntryId: ___, firstKeptEntryIndex: ____, ...rest } = record
  const { message } = rest
  if (!isJsonObject(message) || message["role"] !== "hookMessage") return rest
  return { ...rest, message: { ...message, role: "custom" } }
}

// --- Entries ----------------------------------------------------------------------------------------------------------

/** Entries that are no messages. Others are kept as well, and said aloud. */
const CARRIERS = new Set([
  ...["model_change", "thinking_level_change", "active_tools_change", "usage", "context_edit"],
  ...["custom", "label", "session_info"],
  // Those of oh-my-pi.
  ...["model_usage", "service_tier_change", "title_change", "ttsr_injection", "session_init", "mode_change"],
  ...["credential_pin", "reset_boundary"],
  // Those of OpenClaw.
  ...["leaf", "reset"],
])
/** What v4 writes beside its entries. */
const BOOKKEEPING = new Set(["record", "lane", "fact", "usage", "value", "list"])

interface Pushing {
  readonly writer: SessionWriter
  readonly brand: Brand
  /** Of a database all lines come each time, so each needs an id. */
  readonly isListed: boolean
}

function pushEntry({ writer, brand, isListed }: Pushing, raw: RawRecord, record: SourceValue): void {
  const note: View["note"] = (kind, found) =>
    writer.issue(raw, { kind, severity: "note", found: typeof found === "string" ? found.slice(0, 80) : "no type" })
  const spot = whole(record)
  const drafts: MessageDraft[] = []
  const reading = { brand, note }
  if (Array.isArray(record)) for (const entry of itemsOf(spot)) addDraft(drafts, entry, reading)
  else addDraft(drafts, spot, reading)
  const title = titleFacts(record)
  if (!isFilled(drafts)) {
    const { id = isListed ? idOfUnnamed(record) : undefined, timestamp } = commonFields(spot)
    writer.carrier(raw, record, { id, timestamp, pond: title })
    return
  }
  writer.record(raw, record, title === undefined ? drafts : withTitle(drafts, title))
}

function withTitle(
  [first, ...rest]: readonly [MessageDraft, ...MessageDraft[]],
  title: MessageDraft["pond"],
): readonly [MessageDraft, ...MessageDraft[]] {
  return [{ ...first, pond: { ...first.pond, ...title } }, ...rest]
}

function addDraft(drafts: MessageDraft[], entry: Spot, reading: Pick<View, "brand" | "note">): void {
  const draft = entryDraft(blockView(entry, reading))
  if (draft !== undefined) drafts.push(draft)
}

/** Nothing where the entry is no message. */
function entryDraft(entry: View): MessageDraft | undefined {
  const { spot, value, note } = entry
  const { type } = value
  // Before v4, some entries had another `kind`. What v4 writes is numbered.
  const kind = value["seq"] === undefined ? "entry" : value["kind"]
  if (kind !== "entry") {
    if (typeof kind !== "string" || !BOOKKEEPING.has(kind)) note("unknown_record", kind)
    return undefined
  }
  switch (type) {
    case "message":
      return messageDraft(entry, blockView(inside(spot, "message") ?? NOWHERE, entry))
    case "custom_message":
      return customDraft(entry, entry)
    case "branch_summary":
      return summaryDraft(entry, entry, "branch-summary")
    case "compaction":
      return summaryDraft(entry, entry, "compact-summary")
    default:
      if (typeof type !== "string" || !CARRIERS.has(type)) note("unknown_record", type)
      return undefined
  }
}

function commonFields(entry: Spot): Pick<MessageDraft, "id" | "timestamp"> {
  const { value } = entry
  const timestamp = momentOf(value, "timestamp") ?? timestampAt(value, "message", "timestamp")
  return { id: nonEmptyStringUnder(entry, "id"), timestamp }
}

/** The name that a person gave the session, in the words of each version. The last one counts. */
function titleFacts(record: SourceValue): MessageDraft["pond"] {
  if (Array.isArray(record)) return record.map((write: SourceValue) => titleFacts(write)).findLast(isPresent)
  const isName =
    wordUnder(record, "type") === "session_info" ||
    wordUnder(record, "type") === "title_change" ||
    wordUnder(record, "fact") === "name" ||
    wordUnder(record, "namespace") === "pi.session.name"
  const name = isName ? (valueAt(record, "name") ?? valueAt(record, "title") ?? valueAt(record, "value")) : undefined
  return typeof name === "string" ? { title: name } : undefined
}

// --- Messages ---------------------------------------------------------------------------------------------------------

function messageDraft(entry: View, message: View): MessageDraft | undefined {
  const { role } = message.value
  const { id, timestamp } = commonFields(entry.spot)
  switch (role) {
    case "user":
      return { id, timestamp, role: "user", parts: typedParts(message) }
    case "assistant":
      return {
        id,
        timestamp,
        role: "assistant",
        pond: modelFacts(message),
        parts: contentParts(message, assistantBlock),
      }
    case "toolResult":
      return { id, timestamp, role: "tool", parts: asList(toolResult(message)) }
    case "system":
      return { id, timestamp, role: "system", content: stringUnder(message.spot, "content") }
    case "bashExecution":
      return { id, timestamp, role: "user", parts: ranParts(message, "command") }
    case "pythonExecution":
      return { id, timestamp, role: "user", parts: ranParts(message, "code") }
    case "developer":
      return { id, timestamp, role: "user", parts: contentParts(message, toldBlock) }
    case "fileMention":
      return { id, timestamp, role: "user", parts: mentionedParts(message) }
    case "custom":
    case "hookMessage":
      return customDraft(entry, message)
    case "branchSummary":
      return summaryDraft(entry, message, "branch-summary")
    case "compactionSummary":
      return summaryDraft(entry, message, "compact-summary")
    default:
      message.note("unknown_record", role)
      return undefined
  }
}

function modelFacts({ value: { model } }: View): MessageDraft["pond"] {
  return typeof model === "string" ? { model } : undefined
}

/** What the client tells its model in place of messages that it no longer sends. */
function summaryDraft(entry: View, { spot }: View, injected: string): MessageDraft {
  const text = stringUnder(spot, "summary")
  const parts = text === undefined ? [] : [injectedText(text, injected)]
  return { ...commonFields(entry.spot), role: "user", parts }
}

/** What an extension tells the model in the user's slot. */
function customDraft(entry: View, message: View): MessageDraft {
  return { ...commonFields(entry.spot), role: "user", parts: contentParts(message, injectedBlock) }
}

/** A command or a script that a person ran from the prompt: it is theirs, the output is not. */
function ranParts({ spot }: View, key: "command" | "code"): PartDraft<"text">[] {
  const command = stringUnder(spot, key)
  const output = stringUnder(spot, "output")
  return [
    command && textPart({ provenance: "conversational", text: command, pond: { shell: "command" } }),
    output && injectedText(output, "bash-output"),
  ].filter(isPresent)
}
