/**
 * Raw records of opencode become canonical entries, whichever way it kept them: rows of its database, a tree of JSON
 * files, or the document of an export.
 *
 * opencode changes what it has written. What is stored already is never changed: the new record is appended as a revision,
 * and readers of the records take the newest.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Adapter, ParseEnd, Parser, ParseSink, ResumePoint, SourceUnit } from "../adapter.ts"
import { stringAt } from "../extract.ts"
import { createSessionWriter, mainFileOf } from "../session-writer.ts"
import type { SourceValue } from "../source-value.ts"
import type { Brand } from "./brands.ts"
import { type DocumentState, openDocuments } from "./parse-documents.ts"
import { openRows, type RowState } from "./parse-rows.ts"
import type { Parsing, Singles } from "./parsing.ts"
import { sessionStart } from "./session-start.ts"

/** What is kept between two parses of a session. */
export interface State extends RowState, DocumentState {
  readonly singles: Singles
}

export function parserOf(brand: Pick<Brand, "id">): Adapter["parse"] {
  return (unit, sink, resume) => openParser(brand, unit, sink, resume)
}

function openParser(
  brand: Pick<Brand, "id">,
  unit: SourceUnit,
  sink: ParseSink,
  resume: ResumePoint | undefined,
): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const before = stateOf(resume?.state)
  const versions = new Set<string>()
  const parsing: Parsing = {
    brand,
    writer,
    seen: resume?.seen ?? new Set(),
    singles: { ...before.singles },
    begin(record, layout, directory) {
      const version = stringAt(record, "version")?.value
      if (version !== undefined) versions.add(version)
      const start = writer.hasBegun ? undefined : sessionStart(record, { brand, main, layout, directory })
      if (start !== undefined) writer.begin(start)
    },
  }
  const rows = openRows(parsing, before)
  const documents = openDocuments(parsing, unit, before)
  return {
    push(raw) {
      if (raw.form === "row") rows.push(raw)
      else if (raw.file.form === "document") documents.push(raw)
      else writer.whole(raw)
    },
    end(): ParseEnd {
      const state = { ...rows.state(), ...documents.end(), singles: parsing.singles }
      writer.end()
      return { state: state as unknown as JsonValue, clientVersions: [...versions] }
    },
  }
}

/** What an earlier parse left. A state that another version of pond wrote is one that knows nothing. */
export function stateOf(state: SourceValue | undefined): State {
  const known = isJsonObject(state) ? (state as unknown as Partial<State>) : {}
  const { singles = {}, digests = "", lastEvent = -1, removed = "", exported = "", waiting = [] } = known
  return { singles, digests, lastEvent, removed, exported, waiting }
}
