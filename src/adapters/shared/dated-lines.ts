/** Parses logs of which each line is at most one message with its time: all but how a session begins and what a line says. */
import type { Parser, ParseSink, ResumePoint, SourceUnit } from "../adapter.ts"
import { momentOf, type Sealed, sealedModifiedAt } from "../extract.ts"
import type { Note } from "../notes.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionStart } from "../session-writer.ts"
import { type Spot, whole } from "../spot.ts"
import { readJson } from "./read-json.ts"

export interface DatedLines {
  /** The key of a line that holds its time. A session begins with its first line, or when its file was changed. */
  readonly momentKey: string
  readonly start: (createdAt: Sealed<string>) => SessionStart | undefined
  readonly drafts: (line: Spot, note: Note) => MessageDraft[]
}

export function parseDatedLines(
  { momentKey, start, drafts: draftsOf }: DatedLines,
  unit: SourceUnit,
  sink: ParseSink,
  resume?: ResumePoint,
): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  return {
    push(raw) {
      const record = readJson(raw, writer)
      // A line may be an empty text, which is a value too.
      const timestamp = record === undefined ? undefined : momentOf(record, momentKey)
      const createdAt = timestamp ?? sealedModifiedAt(main)
      const begun = writer.hasBegun || createdAt === undefined ? undefined : start(createdAt)
      if (begun !== undefined) writer.begin(begun)
      if (record === undefined) return
      const drafts = draftsOf(whole(record), writer.noteOn(raw))
      writer.record(raw, record, drafts, { timestamp })
    },
    end: writer.end,
  }
}
