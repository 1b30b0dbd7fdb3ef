/** The versions of a file that agents read, wrote or edited, whole, and the text of one of them. */
import { type Static, Type } from "typebox"
import { PondError } from "../../model/errors.ts"
import { textOfMicros } from "../../model/timestamp.ts"
import { given, nullable, text } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { boundsOf } from "../wire/date-bounds.ts"
import { normalizePath } from "./file-path.ts"
import { eventsOfFile } from "./find-events.ts"
import { type FileVersion, replay, splitLines } from "./line-history.ts"

const RecoverInput = closedObject({
  path: Type.String({ minLength: 1, description: "The absolute path of the file." }),
  at: text("The version at that time: 2026-01-31, a timestamp in RFC 3339, or words: yesterday (default: the newest)."),
})

const Version = closedObject({
  timestamp: Type.String(),
  /** An agent that reads or changes a file shows how it was before; one that writes or edits leaves it so. */
  when: Type.Union([Type.Literal("before"), Type.Literal("after")], {
    description: "Whether the file was so before the call of the message, or after it.",
  }),
  session_id: Type.String(),
  message_id: Type.String(),
  source_agent: Type.String(),
  lines: nullable(Type.Integer(), { description: "Null: the file was deleted." }),
})

const RecoverOutput = closedObject({
  path: Type.String(),
  versions: Type.Array(Version, { description: "Every version that is known whole, oldest first." }),
  chosen: Type.Optional(Type.Integer({ description: "Which of the versions the content is, from 0." })),
  content: Type.Optional(Type.String({ description: "The text of the chosen version." })),
})
export type RecoverOutput = Static<typeof RecoverOutput>

export const recover = defineOperation({
  name: "recover",
  summary: "Bring back a version of a file that an agent read, wrote or edited.",
  input: RecoverInput,
  output: RecoverOutput,
  errors: ["not_found"],
  surfaces: { http: true, cli: "recover" },
  read: true,
  run: async ({ pond, signal }, { path, at }) => {
    const { to } = boundsOf({ from: "/at", to: "/at", nowMs: pond.host.clock.nowMs() }, undefined, at)
    const events = await eventsOfFile(await pond.sessions(), normalizePath(path), signal)
    const { versions } = await replay(events)
    if (versions.length === 0) throw nothingKnown(path, events.length)
    const chosen = versions.findLastIndex((each) => each.text !== undefined && isBy(each, to))
    if (chosen < 0 && at !== undefined) throw nothingThen(path, at, versions[0])
    return {
      path,
      versions: versions.map(describe),
      ...(chosen < 0 ? {} : { chosen }),
      ...given("content", versions[chosen]?.text),
    }
  },
})

function isBy({ event }: FileVersion, to: bigint | undefined): boolean {
  return to === undefined || event.atMicros <= to
}

function describe({ event, when, text: content }: FileVersion): Static<typeof Version> {
  return {
    timestamp: textOfMicros(event.atMicros),
    when,
    session_id: event.sessionId,
    message_id: event.messageId,
    source_agent: event.sourceAgent,
    lines: content === undefined ? null : splitLines(content).length,
  }
}

function nothingKnown(path: string, changes: number): PondError {
  const why =
    changes === 0
      ? "No stored session names this file. `pond sync` stores new sessions."
      : "Sessions name this file, but none of them contains its complete text."
  return new PondError("not_found", `No version of ${path} is known. ${why}`, { details: { path, changes } })
}

function nothingThen(path: string, at: string, first: FileVersion | undefined): PondError {
  const since = first === undefined ? "" : ` The oldest version is of ${textOfMicros(first.event.atMicros)}.`
  return new PondError("not_found", `No version of ${path} is known at ${at}.${since}`, { details: { path, at } })
}
