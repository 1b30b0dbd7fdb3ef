/**
 * kimi-cli, up to its last release 1.52: `context.jsonl` is what its model is sent, `context_<n>.jsonl` what it was sent
 * before an undo or a compaction, `wire.jsonl` what was shown. Each agent has the same files in a separate folder. No
 * message has an id or a time; a failure is told in words.
 */
import type { JsonValue } from "../../model/json.ts"
import type { Parser, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  joined,
  matchIn,
  momentOfSeconds,
  nonEmptyOf,
  type Sealed,
  sealedModifiedAt,
  sealedOrigin,
} from "../extract.ts"
import type { SessionWriter } from "../session-writer.ts"
import { readJson } from "../shared/read-json.ts"
import { composed, fieldsOf, type SourceObject, type SourceValue } from "../source-value.ts"
import { whole, wordUnder } from "../spot.ts"
import { messageDrafts, takeState } from "./messages.ts"
import { BRAND, LIVE } from "./records.ts"

const SESSION = /([^/]+?)(?:\/subagents\/[^/]+)?\/(?:context(?:_\d+)?|wire)\.jsonl$/
const FLAT = /([^/]+)\.jsonl$/
const AGENT = /\/subagents\/([^/]+)\/[^/]+$/
const WORKING_DIRECTORY = /working directory is `([^`\n]+)`/
/** Lines of bookkeeping between the messages. */
const NOTES = new Set(["_checkpoint", "_usage", "_system_prompt"])
const WIRE = /(?:^|\/)wire\.jsonl$/
const CONTEXT = /(?:^|\/)context(?:_\d+)?\.jsonl$/

export function openOldSession(
  writer: SessionWriter,
  unit: SourceUnit,
  place: Sealed<string>,
  resume: ResumePoint | undefined,
): Parser {
  const main = unit.files.find(({ form }) => form === "log")
  const isFlat = !unit.files.some(({ relativePath }) => CONTEXT.test(relativePath) || WIRE.test(relativePath))
  const hasOlder = unit.files.filter(({ relativePath }) => CONTEXT.test(relativePath)).length > 1
  const before = fieldsOf(resume?.state)
  /** What is sent now: an older file says most of it, too. */
  const live = new Set<JsonValue>(copiedList(before["lines"]))
  const times = openTimes(before)
  let hasRecords = false

  function begin(record: SourceValue | undefined): void {
    const agent = matchIn(place, AGENT)
    const id = matchIn(place, isFlat ? FLAT : SESSION) ?? place
    const prompt = record === undefined ? undefined : nonEmptyOf(record, "content")
    const project = prompt && matchIn(prompt, WORKING_DIRECTORY)
    const createdAt = times.first() ?? (main && sealedModifiedAt(main))
    if (createdAt === undefined) return
    writer.begin({
      id: agent === undefined ? id : joined([id, agent], ":"),
      sourceAgent: sealedOrigin(BRAND, agent),
      project: project ?? matchIn(place, /sessions\/([^/]+)\//) ?? place,
      createdAt,
      parentSessionId: agent === undefined ? undefined : id,
      pond: { layout: "kimi-cli" },
    })
  }

  /** A line that is sent now and was sent before is one message. */
  function isRepeated({ file }: RawRecord, line: string): boolean {
    if (!hasOlder) return false
    const hash = shortHash(line)
    if (!LIVE.test(file.relativePath)) return live.has(hash)
    live.add(hash)
    return false
  }

  function takeLine(raw: RawRecord & { readonly text: string }, record: SourceValue): void {
    const note = writer.noteOn(raw)
    const role = wordUnder(record, "role")
    const isMessage = isFlat || CONTEXT.test(raw.file.relativePath)
    if (WIRE.test(raw.file.relativePath)) times.learn(record)
    if (!isMessage || (role !== undefined && NOTES.has(role)) || isRepeated(raw, raw.text)) {
      writer.carrier(raw, record)
      return
    }
    const drafts = messageDrafts(whole(record), { timestamp: times.of(record) }, note)
    writer.record(raw, record, drafts)
  }

  return {
    push(raw) {
      hasRecords = true
      const record = readJson(raw, writer)
      if (record === undefined) return
      // The first line of a session names its directory, where it does.
      if (!writer.hasBegun && !WIRE.test(raw.file.relativePath))
        begin(wordUnder(record, "role") === "_system_prompt" ? record : undefined)
      if (raw.form === "log") takeLine(raw, record)
      else takeState(writer, raw, record)
    },
    end(isSettled = false) {
      // Nothing of what is sent may have come yet, which names the directory.
      if (hasRecords && isSettled && !writer.hasBegun) begin(undefined)
      if (isSettled || writer.hasBegun) writer.end()
      return { state: { lines: [...live], ...times.state }, clientVersions: [] }
    },
  }
}

/** What is known of the times: of each turn by its words, as the log has them, and of what was said last. */
interface TimesState {
  readonly turns: Record<string, SourceValue[]>
  last: SourceValue[]
}

/** What was shown has times: a person's message has that of the turn which begins with its words, what follows it has it too. */
function openTimes(before: SourceObject) {
  const known = Object.entries(fieldsOf(before["turns"])).map(
    ([words, moments]) => [words, copiedList(moments)] as const,
  )
  const state: TimesState = { turns: Object.fromEntries(known), last: copiedList(before["last"]) }
  let first: Sealed<string> | undefined
  return {
    state,
    first: () => first,
    learn(record: SourceValue) {
      const { timestamp = null, message } = fieldsOf(record)
      first ??= momentOfSeconds(record, "timestamp")
      const { type, payload } = fieldsOf(message)
      if (type !== "TurnBegin") return
      const words = hashedWords(fieldsOf(payload)["user_input"])
      state.turns[words] = [...(state.turns[words] ?? []), timestamp]
    },
    of(record: SourceValue): Sealed<string> | undefined {
      const { role, content } = fieldsOf(record)
      const moments = role === "user" ? (state.turns[hashedWords(content)] ?? []) : []
      if (moments.length > 0) state.last = moments.splice(0, 1)
      return momentOfSeconds(composed({ last: state.last[0] ?? null }), "last")
    },
  }
}

function copiedList(value: SourceValue | undefined): SourceValue[] {
  return Array.isArray(value) ? [...value] : []
}

/** The hash of what was said. */
function hashedWords(content: SourceValue | undefined): string {
  const parts = Array.isArray(content)
    ? content.map((part: SourceValue) => wordUnder(part, "text") ?? "")
    : [String(content)]
  return shortHash(parts.join(""))
}

function shortHash(text: string): string {
  return Bun.hash.xxHash64(text).toString(36)
}
