/**
 * What a summary of a session drops: the commands that worked, and what the person settled. Hooks hand it back to a
 * session after its client compacted it. Of 43 compactions that somebody measured, the summaries kept three quarters of
 * the decisions and two commands in a thousand.
 */
import { type Static, Type } from "typebox"
import { originOf } from "../../adapters/registry.ts"
import { readTool, type Vocabulary } from "../../adapters/shared/vocabulary.ts"
import type { JsonValue } from "../../model/json.ts"
import type { Entry } from "../../model/session.ts"
import { isDecision } from "../../search/recall/passage.ts"
import type { Sessions } from "../../sessions/store.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { createRedactor } from "../share/redact.ts"
import { fullSessionId, shortIds } from "../store/session-ids.ts"
import { tokensOf } from "./recall.ts"

const TOKENS_DEFAULT = 800
/** Older messages were summed up long ago. */
const MESSAGES_MAX = 2_000
const COMMAND_UNITS_MAX = 240
const DECISION_UNITS_MAX = 300
const DECISIONS_MAX = 12
const COMMANDS_MAX = 16
/** What a line that names a message takes. */
const CITATION_TOKENS = 10

/** Looking around leaves nothing that must be known again. */
const LOOKING =
  /^(?:cd|ls|cat|head|tail|grep|rg|find|pwd|echo|which|wc|sed -n|tree|file|stat|git (?:status|log|diff|show|branch))\b[^|;&]*$/

const SHORT_ID = Type.String({ description: "The beginning of the message's id, which `get` takes." })
const Command = closedObject({
  command: Type.String(),
  message_id: Type.String(),
  short_id: SHORT_ID,
  times: Type.Integer({ description: "How often it ran and did not fail." }),
})
const Decision = closedObject({ text: Type.String(), message_id: Type.String(), short_id: SHORT_ID })

export const sessionNotes = defineOperation({
  name: "session_notes",
  summary: "Show the commands of a session that worked, and what the person settled in it: what a summary drops.",
  input: closedObject({
    session_id: Type.String({ minLength: 1, description: "The session." }),
    tokens: Type.Optional(
      Type.Integer({ minimum: 50, maximum: 10_000, default: TOKENS_DEFAULT, description: "The room for all of it." }),
    ),
  }),
  output: closedObject({ decisions: Type.Array(Decision), commands: Type.Array(Command) }),
  errors: ["not_found"],
  surfaces: { http: true },
  read: true,
  run: async ({ pond, signal }, { session_id, tokens = TOKENS_DEFAULT }) => {
    const sessions = await pond.sessions()
    const id = await fullSessionId(sessions, session_id)
    const entries = await newestEntries(sessions, id)
    signal.throwIfAborted()
    const vocabulary = originOf((await sessions.session(id))?.source_agent ?? "")?.vocabulary ?? []
    const redactor = createRedactor(pond.host.environment)
    let room = tokens
    const within = <Each>(all: readonly Each[], textOf: (each: Each) => string): Each[] =>
      all.filter((each) => {
        const size = tokensOf(textOf(each)) + CITATION_TOKENS
        if (size > room) return false
        room -= size
        return true
      })
    const clean = (text: string, units: number) => redactor.clean(text).slice(0, units).toWellFormed()
    // The newest first, so that what does not fit is old; shown in the order in which it was said.
    const decisions = within(
      decisionsOf(entries).map((each) => ({ ...each, text: clean(each.text, DECISION_UNITS_MAX) })),
      (each) => each.text,
    )
    const commands = within(
      commandsOf(entries, vocabulary).map((each) => ({ ...each, command: clean(each.command, COMMAND_UNITS_MAX) })),
      (each) => each.command,
    )
    const ids = [...decisions, ...commands].map(({ message_id }) => message_id)
    const short = await shortIds(sessions, "messages", [...new Set(ids)])
    const cited = <Each extends { readonly message_id: string }>(all: readonly Each[]) =>
      all.toReversed().map((each) => ({ ...each, short_id: short.get(each.message_id) ?? each.message_id }))
    return { decisions: cited(decisions), commands: cited(commands) }
  },
})

async function newestEntries(sessions: Sessions, id: string): Promise<readonly Entry[]> {
  const places = await sessions.places(id, "turns")
  const only = places.slice(-MESSAGES_MAX).map(({ ordinal }) => ordinal)
  return await sessions.entries(id, { only })
}

/** Newest first, each once. */
function decisionsOf(entries: readonly Entry[]): readonly { readonly text: string; readonly message_id: string }[] {
  const found = new Map<string, string>()
  for (const entry of entries.toReversed()) {
    if (found.size >= DECISIONS_MAX) break
    for (const sentence of typedSentences(entry).reverse())
      if (isDecision(sentence) && !found.has(sentence)) found.set(sentence, entry.message.id)
  }
  return [...found].map(([text, message_id]) => ({ text, message_id })).slice(0, DECISIONS_MAX)
}

function typedSentences({ message, parts }: Entry): string[] {
  if (message.role !== "user") return []
  return parts
    .flatMap((part) => (part.type === "text" && part.provenance === "conversational" ? [part.text] : []))
    .flatMap((text) => text.split(/(?<=[.!?。！？])\s+|\n+/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "" && sentence.length <= DECISION_UNITS_MAX)
}

/** Newest first, each once, without those that failed and those that only looked around. */
function commandsOf(entries: readonly Entry[], vocabulary: Vocabulary): Omit<Static<typeof Command>, "short_id">[] {
  const failed = new Set(
    entries.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "tool_result" && part.is_failure ? [part.call_id] : [])),
    ),
  )
  const found = new Map<string, { command: string; message_id: string; times: number }>()
  for (const { message, parts } of entries.toReversed()) {
    for (const part of parts.toReversed()) {
      if (part.type !== "tool_call" || failed.has(part.call_id)) continue
      const read = readTool(vocabulary, part.name, part.params as JsonValue)
      if (read?.tool.kind !== "shell") continue
      const command = String(read.tool.fields["command"]).trim()
      if (command === "" || LOOKING.test(command)) continue
      const known = found.get(command)
      if (known === undefined) found.set(command, { command, message_id: message.id, times: 1 })
      else known.times++
    }
  }
  return [...found.values()].slice(0, COMMANDS_MAX)
}
