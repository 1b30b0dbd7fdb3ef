/**
 * Amp to canonical: a thread is one document with its messages, written anew with every change. A result stands in the message
 * of the user behind its call. What was summed up is for `context.ts`. Reads top to bottom: the thread, a message, its blocks.
 */
import type { JsonValue } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  isAt,
  jsonUnder,
  matchIn,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  numeralOf,
  pathInUrl,
  plain,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
  timestampAt,
} from "../extract.ts"
import { asTitle, type Note } from "../notes.ts"
import {
  filePart,
  injectedText,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { unknownBlock } from "../shared/common-parts.ts"
import { itemRecord, readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, whole, wordUnder } from "../spot.ts"
import { BRAND, messages } from "./documents.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const { keys } = fieldsOf(resume?.state)
  const known = new Set<JsonValue>(Array.isArray(keys) ? keys : [])
  const versions = new Set<string>()

  function begin(thread: SourceValue): void {
    const place = sealedRelativePath(main)
    const id = nonEmptyOf(thread, "id") ?? matchIn(place, NAME)
    const createdAt = timestampAt(thread, "created")
    const tree = nonEmptyStringAt(thread, "env", "initial", "trees", 0, "uri")
    const project = (tree && (pathInUrl(tree) ?? tree)) ?? place
    const starter = nonEmptyOf(thread, "mainThreadID")
    const sourceAgent = sealedOrigin(BRAND, starter && nonEmptyOf(thread, "agentMode"))
    writer.begin({
      id,
      sourceAgent,
      project,
      createdAt,
      parentSessionId: starter ?? forkedFrom(thread),
      reappends: true,
    })
  }

  return {
    push(raw) {
      const thread = readJson(raw, writer)
      if (!writer.hasBegun) begin(thread ?? null)
      if (thread === undefined) return
      const version = nonEmptyStringAt(thread, "env", "initial", "platform", "clientVersion")
      if (version !== undefined) versions.add(plain(version))
      const split = messages.split(thread)
      // A document without messages is no thread; whatever else it is, it is kept.
      const header = split === undefined ? thread : split.header
      writer.carrier(raw, header, { id: sealedRelativePath(raw.file), pond: asTitle(wordUnder(thread, "title")) })
      for (const { key, item, text, hash } of split?.items ?? []) {
        if (known.has(key)) continue
        known.add(key)
        takeMessage(writer, itemRecord(raw, text, hash), item)
      }
    },
    end() {
      writer.end()
      return { state: { keys: [...known] }, clientVersions: [...versions] }
    },
  }
}

const NAME = /([^/]+)\.json$/

/** A thread of 2025 names the one that it was copied from. */
function forkedFrom(thread: SourceValue): Sealed<string> | undefined {
  return nonEmptyOf(thread, "originThreadID") ?? nonEmptyOf(thread, "forkedFromThreadID")
}

// --- A message ----------------------------------------------------------------------------------------------------------

/** The number of a message is unique in its thread: written again under it, it is the same message with more in it. */
function takeMessage(writer: SessionWriter, raw: RawRecord, item: SourceValue): void {
  const drafts = messageDrafts(whole(item), writer.noteOn(raw))
  writer.record(raw, item, drafts, drafts.length === 0 ? {} : { id: numeralOf(item, "messageId") })
}

function messageDrafts(message: Spot, note: Note): MessageDraft[] {
  switch (wordUnder(message.value, "role")) {
    case "user":
      return userDrafts(message, note)
    case "assistant": {
      const model = nonEmptyStringAt(message.value, "usage", "model")
      const pond = model === undefined ? undefined : { model: plain(model) }
      const parts = blocksOf(message).flatMap((block) => assistantBlock(block, note))
      const timestamp = timestampAt(message.value, "usage", "timestamp")
      return parts.length === 0 ? [] : [{ role: "assistant", timestamp, pond, parts }]
    }
    case "info":
      return infoDrafts(message, note)
    default:
      note("unknown_record", wordUnder(message.value, "role") ?? "no role")
      return []
  }
}

function blocksOf(message: Spot): Spot[] {
  return itemsOf(inside(message, "content"))
}

// --- What a person said, and what came of calls ---------------------------------------------------------------------------

type UserPart = PartDraft<"text" | "file" | "opaque">

function userDrafts(message: Spot, note: Note): MessageDraft[] {
  const timestamp = timestampAt(message.value, "meta", "sentAt")
  const isMade = inside(message, "source") !== undefined
  const blocks = blocksOf(message)
  const results = blocks.flatMap(resultPart)
  const only = nonEmptyTextUnder(message, "content")
  const said = only === undefined ? [] : [textPart({ provenance: "conversational", text: only })]
  const parts = [...said, ...blocks.flatMap((block) => userBlock(block, isMade, note))]
  return [
    ...(results.length === 0 ? [] : [{ role: "tool" as const, timestamp, parts: results }]),
    ...(parts.length === 0 ? [] : [{ role: "user" as const, timestamp, parts: [...parts, ...mentions(message)] }]),
  ]
}

/** What the client says in the place of a person, to set a model right. */
function userBlock(block: Spot, isMade: boolean, note: Note): UserPart[] {
  const type = wordUnder(block.value, "type")
  if (type === "tool_result") return []
  const text = type === "text" ? stringUnder(block, "text") : undefined
  if (text !== undefined) {
    if (text.value === "") return []
    if (!isMade) return [textPart({ provenance: "conversational", text })]
    return [injectedText(text, "course-correction")]
  }
  const source = type === "image" ? inside(block, "source") : undefined
  const base64 = source && stringUnder(source, "data")
  const url = source && stringUnder(source, "url")
  if (source === undefined || (base64 === undefined && url === undefined)) return unknownBlock(block, note)
  const mediaType = nonEmptyStringUnder(source, "mediaType")
  const data = base64 === undefined ? url && { url } : { base64 }
  return data === undefined ? [] : [filePart({ provenance: "conversational", mediaType, data })]
}

/** Files that the prompt names, as the client read them. */
function mentions(message: Spot): PartDraft<"text">[] {
  const mentioned = inside(message, "fileMentions")
  return itemsOf(mentioned && inside(mentioned, "files")).flatMap((file) => {
    const text = nonEmptyTextUnder(file, "content")
    return text === undefined ? [] : [injectedText(text, "file-content")]
  })
}

/** Nothing of a call that is still running or waits for a person. */
function resultPart(block: Spot): PartDraft<"tool_result">[] {
  const run = wordUnder(block.value, "type") === "tool_result" ? inside(block, "run") : undefined
  const callId = nonEmptyStringUnder(block, "toolUseID")
  if (run === undefined || callId === undefined) return []
  const text = stringUnder(run, "result")
  const failure = inside(run, "error")
  const result = text === undefined ? (jsonUnder(run, "result") ?? (failure && errorText(failure))) : asJson(text)
  if (result === undefined) return []
  return [toolResultPart({ provenance: "injected", callId, isFailure: isAt(run.value, "error", "status"), result })]
}

function errorText(failure: Spot) {
  const text = stringUnder(failure, "message")
  return text && asJson(text)
}

// --- What the model said --------------------------------------------------------------------------------------------------

type AssistantPart = PartDraft<"text" | "reasoning" | "tool_call" | "opaque">

function assistantBlock(block: Spot, note: Note): AssistantPart[] {
  const type = wordUnder(block.value, "type")
  if (type === "text") {
    const text = nonEmptyTextUnder(block, "text")
    return text === undefined ? [] : [textPart({ provenance: "conversational", text })]
  }
  if (type === "thinking") {
    const text = nonEmptyTextUnder(block, "thinking")
    return text === undefined ? [] : [reasoningPart({ provenance: "conversational", text })]
  }
  const sealed = type === "redacted_thinking" ? nonEmptyStringUnder(block, "type") : undefined
  if (sealed !== undefined) return [opaquePart({ provenance: "conversational", kind: sealed })]
  const callId = type === "tool_use" ? nonEmptyStringUnder(block, "id") : undefined
  const name = nonEmptyStringUnder(block, "name")
  const params = jsonUnder(block, "input")
  if (callId === undefined || name === undefined || params === undefined) return unknownBlock(block, note)
  return [toolCallPart({ provenance: "conversational", callId, name, params })]
}

/** A summary of all before it, or a command that a person ran from the prompt. */
function infoDrafts(message: Spot, note: Note): MessageDraft[] {
  const parts = blocksOf(message).flatMap((block): UserPart[] => {
    const summary = inside(block, "summary")
    const text = summary && stringUnder(summary, "summary")
    if (text !== undefined) return [injectedText(text, "compact-summary")]
    const args = inside(block, "args")
    const command = args && stringUnder(args, "cmd")
    if (command === undefined) return unknownBlock(block, note)
    const run = inside(block, "toolRun")
    const result = run && inside(run, "result")
    const output = result && stringUnder(result, "output")
    return [
      textPart({ provenance: "conversational", text: command, pond: { shell: "command" } }),
      ...(output === undefined ? [] : [injectedText(output, "bash-output")]),
    ]
  })
  return parts.length === 0 ? [] : [{ role: "user", parts }]
}
