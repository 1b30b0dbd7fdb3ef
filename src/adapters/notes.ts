/** What parsers of all clients say in the same words: a record that they do not know, and the title of a session. */
import type { ParseSink, RawRecord } from "./adapter.ts"

/** Says that a record, or a part of it, has a form that the adapter does not know. Its data is kept all the same. */
export type Note = (kind: "unknown_record" | "unknown_part" | "missing_blob", found: string) => void

const NOTED_MAX = 80

export function noteIn(sink: ParseSink, { file, line }: RawRecord): Note {
  return (kind, found) =>
    sink.issue({ kind, severity: "note", file: file.relativePath, record: line, found: found.slice(0, NOTED_MAX) })
}

/** The facts of a record that gives its session a title; an empty one is none. */
export function asTitle(title: string | undefined): { readonly title: string } | undefined {
  return title === undefined || title === "" ? undefined : { title }
}
