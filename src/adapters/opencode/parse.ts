/**
 * Raw records of opencode become canonical entries, whichever way it kept them: rows of its database, a tree of JSON
 * files, or the document of an export.
 *
 * opencode changes what it has written. What is stored already is never changed: the new record is appended as a carrier,
 * and whoever reads the records back takes the newest.
 */
import { isJsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { ParseEnd, Parser, ParseSink, ResumePoint, SourceUnit } from "../adapter.ts"
import { stringAt } from "../extract.ts"
import { createSessionWriter, mainFileOf } from "../session-writer.ts"
import { hashOf, openDigests } from "./digests.ts"
import { openDocuments } from "./parse-documents.ts"
import { openRows, type RowState } from "./parse-rows.ts"
import type { Parsing } from "./parsing.ts"
import { sessionStart } from "./session-start.ts"

/** What is kept between two parses of a session. */
interface State extends RowState {
  /** The hash of each record that exists once, by what it is. */
  readonly singles: Readonly<Record<string, string>>
}

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const before = stateOf(resume?.state)
  const singles: Record<string, string> = { ...before.singles }
  const versions = new Set<string>()
  const parsing: Parsing = {
    writer,
    seen: resume?.seen ?? new Set(),
    begin(record, layout) {
      const version = stringAt(record, "version")?.value
      if (version !== undefined) versions.add(version)
      const start = writer.hasBegun ? undefined : sessionStart(record, main, layout)
      if (start !== undefined) writer.begin(start)
    },
    single(name, raw, record) {
      const hash = hashOf(stringifyJson(record))
      if (singles[name] === hash) return
      singles[name] = hash
      writer.carrier(raw, record)
    },
  }
  const rows = openRows(parsing, before)
  const exported = openDigests(before.digests)
  const documents = openDocuments(parsing, main, exported)
  return {
    push(raw) {
      if (raw.form === "row") rows.push(raw)
      else if (raw.file.form === "document") documents.push(raw)
      else writer.whole(raw)
    },
    end(): ParseEnd {
      documents.end()
      writer.end()
      const known = rows.state()
      const digests = unit.row === undefined ? exported.toText() : known.digests
      const state = { ...known, singles, digests } satisfies State
      return { state, clientVersions: [...versions] }
    },
  }
}

/** The session as an earlier parse left it. A state of another version of pond is one that knows nothing. */
export function stateOf(state: JsonValue | undefined): State {
  const { singles, digests, lastEvent, removed } = isJsonObject(state) ? (state as Partial<State>) : {}
  return { singles: singles ?? {}, digests: digests ?? "", lastEvent: lastEvent ?? -1, removed: removed ?? "" }
}
