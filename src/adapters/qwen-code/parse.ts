/**
 * Qwen Code to canonical: one log for each chat and one for each agent, records with `uuid` and `parentUuid`. That tree is
 * for `context.ts`. Reads top to bottom: the chat, its records, a message, a part. What is not named here stays in its record.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceFile, SourceUnit } from "../adapter.ts"
import {
  joined,
  keyAt,
  matchIn,
  momentOf,
  nonEmptyOf,
  nonEmptyStringAt,
  plain,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  timestampAt,
} from "../extract.ts"
import { asTitle, type Note } from "../notes.ts"
import { injectedText, opaquePart, type PartDraft, reasoningPart, textPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { dataPart, functionCallPart, functionResponsePart, isThought, partText } from "../shared/google-parts.ts"
import { readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, whole, wordUnder } from "../spot.ts"
import { createUserTexts } from "./provenance.ts"
import { BRAND, systemKind } from "./records.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const versions = new Set<string>()
  let hasRecords = false
  return {
    push(raw) {
      hasRecords = true
      const record = readJson(raw, writer)
      if (record === undefined) return
      const version = wordUnder(record, "version")
      if (version !== undefined && version !== "") versions.add(version)
      if (nonEmptyOf(record, "cwd") !== undefined) begin(writer, main, record)
      if (raw.form === "document") writer.carrier(raw, record, { id: nonEmptyOf(record, "agentId") })
      else pushRecord(writer, raw, record)
    },
    end(isSettled) {
      // A log that names no directory yet may still do so.
      if (hasRecords && isSettled) begin(writer, main, null)
      if (isSettled || writer.hasBegun) writer.end()
      return { state: null, clientVersions: [...versions] }
    },
  }
}

// --- The session ------------------------------------------------------------------------------------------------------

const CHAT = /([0-9a-fA-F-]{32,36})\.jsonl$/
/** `subagents/<id of the chat>/agent-<id>.jsonl` */
const AGENT = /([^/]+)\/(agent-[^/]+)\.jsonl$/

/** The name of the file is the id of the chat, whatever its records say. */
function begin(writer: SessionWriter, main: SourceFile, record: SourceValue): void {
  if (writer.hasBegun) return
  const place = sealedRelativePath(main)
  const agent = matchIn(place, AGENT, 2)
  const chat = agent === undefined ? matchIn(place, CHAT) : (matchIn(place, AGENT) ?? place)
  const createdAt = timestampAt(record, "timestamp")
  const id = chat ?? nonEmptyStringAt(record, "sessionId") ?? place
  const project =
    nonEmptyStringAt(record, "cwd") ?? matchIn(place, /projects\/([^/]+)\//) ?? matchIn(place, /([^/]+)\/[^/]+$/)
  writer.begin({
    id: agent === undefined ? id : joined([id, agent], ":"),
    sourceAgent: sealedOrigin(BRAND, agent && (nonEmptyStringAt(record, "agentName") ?? agentType(agent))),
    project: project ?? place,
    createdAt,
    parentSessionId: agent === undefined ? nonEmptyStringAt(record, "forkedFrom", "sessionId") : id,
    ...spawnedBy(record),
  })
}

/** `agent-<type>-<id of the call>` */
function agentType(agent: Sealed<string>): Sealed<string> {
  return matchIn(agent, /^agent-(.+)-[^-]+$/) ?? agent
}

/** The id of an agent ends with that of the call that started it. */
function spawnedBy(record: SourceValue): { readonly pond?: Record<string, JsonValue> } {
  const [id, name] = [wordUnder(record, "agentId"), wordUnder(record, "agentName")]
  const isOfCall = id !== undefined && name !== undefined && id.startsWith(`${name}-`)
  return isOfCall ? { pond: { spawned_by: id.slice(name.length + 1) } } : {}
}

// --- Records ----------------------------------------------------------------------------------------------------------

/** A record or a part that was read and kept, and not understood, is noted. */

function pushRecord(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const note = writer.noteOn(raw)
  const drafts = draftsOf(record, note)
  if (drafts.length > 0) writer.record(raw, record, drafts)
  else writer.carrier(raw, record, { ...commonFields(record), pond: titleIn(record) })
}

function commonFields(record: SourceValue): Pick<MessageDraft, "id" | "timestamp"> {
  return { id: nonEmptyOf(record, "uuid"), timestamp: momentOf(record, "timestamp") }
}

/** The name that a person or the client's model gave the chat. The last one counts. */
function titleIn(record: SourceValue): MessageDraft["pond"] {
  if (systemKind(record) !== "custom_title") return undefined
  return asTitle(isJsonObject(record) ? wordUnder(record["systemPayload"], "customTitle") : undefined)
}

/** None where the record is no message. */
function draftsOf(record: SourceValue, note: Note): MessageDraft[] {
  const fields = commonFields(record)
  const message = inside(whole(record), "message")
  switch (wordUnder(record, "type")) {
    case "user":
      return [{ ...fields, role: "user", parts: userParts(message, injectedKind(record), note) }]
    case "assistant":
      return [{ ...fields, ...modelOf(record), role: "assistant", parts: modelParts(message, "conversational", note) }]
    case "tool_result":
      return [{ ...fields, role: "tool", parts: resultParts(message, statusOf(record), note) }]
    case "system":
      if (systemKind(record) === undefined) note("unknown_record", "a system record of no kind")
      return systemKind(record) === "chat_compression" ? compressedDrafts(record, fields, note) : []
    default:
      note("unknown_record", wordUnder(record, "type") ?? "no type")
      return []
  }
}

function modelOf(record: SourceValue): Pick<MessageDraft, "pond"> {
  const model = wordUnder(record, "model")
  return model === undefined ? {} : { pond: { model } }
}

/** What the client said in the user's slot, by the words that it has for it. A prompt that a model wrote is one all the same. */
const SAID_BY_CLIENT: ReadonlySet<string> = new Set(["notification", "cron"])

function injectedKind(record: SourceValue): string | undefined {
  const subtype = wordUnder(record, "subtype")
  if (subtype !== undefined && SAID_BY_CLIENT.has(subtype)) return subtype
  const provenance = wordUnder(record, "provenance")
  return provenance === undefined || provenance === "real_user" ? undefined : provenance
}

function statusOf(record: SourceValue): Sealed<string> | undefined {
  return nonEmptyStringAt(record, "toolCallResult", "status")
}

/** What stands in the place of all that was said before. Its own record comes first, so that it stays where it is. */
function compressedDrafts(
  record: SourceValue,
  fields: Pick<MessageDraft, "id" | "timestamp">,
  note: Note,
): MessageDraft[] {
  const payload = inside(whole(record), "systemPayload")
  const history = itemsOf(payload && inside(payload, "compressedHistory"))
  const { timestamp } = fields
  return [
    { ...fields, role: "system" },
    ...history.flatMap((content): MessageDraft[] => {
      const results = itemsOf(inside(content, "parts")).some(isResponse)
      if (results) return [{ timestamp, role: "tool", parts: resultParts(content, undefined, note) }]
      if (wordUnder(content.value, "role") === "model")
        return [{ timestamp, role: "assistant", parts: modelParts(content, "injected", note) }]
      return [{ timestamp, role: "user", parts: userParts(content, "compact-summary", note) }]
    }),
  ]
}

function isResponse(part: Spot): boolean {
  return inside(part, "functionResponse") !== undefined
}

// --- Messages ---------------------------------------------------------------------------------------------------------

function partsOf(message: Spot | undefined): Spot[] {
  return itemsOf(message && inside(message, "parts"))
}

type UserPart = PartDraft<"text" | "file" | "opaque">
type ModelPart = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "opaque">

function userParts(message: Spot | undefined, injected: string | undefined, note: Note): UserPart[] {
  const readText = createUserTexts(injected)
  return partsOf(message).flatMap((part): UserPart[] => {
    const text = partText(part)
    return text === undefined ? filesIn(part, note) : readText(text)
  })
}

function modelParts(message: Spot | undefined, provenance: "conversational" | "injected", note: Note): ModelPart[] {
  return partsOf(message).flatMap((part): ModelPart[] => {
    const text = partText(part)
    if (text !== undefined) {
      if (isThought(part.value)) return [reasoningPart({ provenance, text })]
      if (text.value === "") return []
      return [provenance === "injected" ? injectedText(text, "compact-summary") : textPart({ provenance, text })]
    }
    const call = inside(part, "functionCall")
    const found = call && functionCallPart(call, provenance)
    return found === undefined ? filesIn(part, note) : [found]
  })
}

function resultParts(
  message: Spot | undefined,
  status: Sealed<string> | undefined,
  note: Note,
): PartDraft<"tool_result" | "opaque">[] {
  return partsOf(message).flatMap((part): readonly PartDraft<"tool_result" | "opaque">[] => {
    const response = inside(part, "functionResponse")
    const result = response && functionResponsePart(response, status)
    return result === undefined ? unread(part, note) : [result]
  })
}

function filesIn(part: Spot, note: Note): PartDraft<"file" | "opaque">[] {
  const file = dataPart(part, "conversational")
  return file === undefined ? unread(part, note) : [file]
}

/** Marks the place of what is not understood, where it says a kind. Its content stays in the record. */
function unread(part: Spot, note: Note): PartDraft<"opaque">[] {
  const kind = keyAt(part.value)
  note("unknown_part", kind === undefined ? "a part of no known kind" : plain(kind))
  return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
}
