/** Which session and message wrote each line of a file, as far as that is certain. */
import { type Static, Type } from "typebox"
import { textOfMicros } from "../../model/timestamp.ts"
import type { Sessions } from "../../sessions/store.ts"
import { given } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { shortIds } from "../store/session-ids.ts"
import { titleText } from "../wire/views.ts"
import { normalizePath } from "./file-path.ts"
import { eventsOfFile } from "./find-events.ts"
import { type FileEvent, type HistoryLine, replay } from "./line-history.ts"

const CONTENT_UNITS_MAX = 4 << 20

const BlameInput = closedObject({
  path: Type.String({ minLength: 1, description: "The absolute path of the file." }),
  content: Type.String({ maxLength: CONTENT_UNITS_MAX, description: "The text of the file as it is now." }),
  line: Type.Optional(Type.Integer({ minimum: 1, description: "Only this line (default: all lines)." })),
})

const BlameRange = closedObject({
  from_line: Type.Integer({ description: "The first line, from 1." }),
  to_line: Type.Integer({ description: "The last line." }),
  message_id: Type.String({ description: "The message whose tool call wrote the lines." }),
  session_id: Type.String(),
  short_id: Type.String({ description: "The beginning of the session's id, which every operation takes." }),
  source_agent: Type.String(),
  title: Type.Optional(Type.String()),
  timestamp: Type.String(),
})
export type BlameRange = Static<typeof BlameRange>

const BlameOutput = closedObject({
  path: Type.String(),
  lines: Type.Integer({ description: "Lines that were asked about." }),
  attributed: Type.Integer({ description: "Lines whose writer is certain." }),
  /** Whether any session touched the file at all: a blame without a line of an agent is no surprise then. */
  changes: Type.Integer({ description: "Stored tool calls that read or changed the file." }),
  ranges: Type.Array(BlameRange, {
    description: "Lines with a writer, in order. Other lines are nobody's that is known.",
  }),
})
export type BlameOutput = Static<typeof BlameOutput>

export const blame = defineOperation({
  name: "blame",
  summary: "Show which session and message wrote each line of a file.",
  input: BlameInput,
  output: BlameOutput,
  errors: [],
  surfaces: { http: true, cli: "blame" },
  read: true,
  run: async ({ pond, signal }, { path, content, line }) => {
    const sessions = await pond.sessions()
    const events = await eventsOfFile(sessions, normalizePath(path), signal)
    const lines = (await replay(events)).attribute(content)
    const asked = line === undefined ? lines : lines.slice(line - 1, line)
    return {
      path,
      lines: asked.length,
      attributed: asked.filter(({ by }) => by !== undefined).length,
      changes: events.length,
      ranges: await describe(sessions, rangesOf(asked, line ?? 1)),
    }
  },
})

interface Range {
  readonly from: number
  to: number
  readonly by: FileEvent
}

function rangesOf(lines: readonly HistoryLine[], first: number): readonly Range[] {
  const ranges: Range[] = []
  for (const [at, { by }] of lines.entries()) {
    const last = ranges.at(-1)
    if (by === undefined) continue
    if (last?.by.messageId === by.messageId && last.by.sessionId === by.sessionId && last.to === first + at - 1)
      last.to += 1
    else ranges.push({ from: first + at, to: first + at, by })
  }
  return ranges
}

async function describe(sessions: Sessions, ranges: readonly Range[]): Promise<BlameRange[]> {
  const ids = [...new Set(ranges.map(({ by }) => by.sessionId))]
  const [short, found] = await Promise.all([shortIds(sessions, "sessions", ids), sessions.sessions(ids)])
  const titles = new Map(found.map(({ id, title }) => [id, title]))
  const words = await sessions.firstWords(ids.filter((id) => titles.get(id) === undefined))
  return ranges.map(({ from, to, by }) => ({
    from_line: from,
    to_line: to,
    message_id: by.messageId,
    session_id: by.sessionId,
    short_id: short.get(by.sessionId) ?? by.sessionId,
    source_agent: by.sourceAgent,
    ...given("title", titleText(titles.get(by.sessionId) ?? words.get(by.sessionId))),
    timestamp: textOfMicros(by.atMicros),
  }))
}
