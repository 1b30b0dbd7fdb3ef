/**
 * A client of nobody that keeps a session as one JSON document and writes it anew: `{id, cwd, at, messages: [{id, at, who, text}]}`.
 * In one file here, to be read top to bottom; an adapter of pond has a file for each face.
 */
import { join } from "node:path"
import type { Adapter, Parser, ParseSink, SourceUnit } from "../../../../src/adapters/adapter.ts"
import { nonEmptyStringAt, sealedOrigin, stringAt, timestampAt, valueAt } from "../../../../src/adapters/extract.ts"
import { textPart } from "../../../../src/adapters/parts.ts"
import { createSessionWriter, mainFileOf, type SessionWriter } from "../../../../src/adapters/session-writer.ts"
import {
  createDocumentSerializer,
  type DocumentShape,
  splitDocument,
} from "../../../../src/adapters/shared/documents.ts"
import { readJson } from "../../../../src/adapters/shared/read-json.ts"
import { filesBelow, isIssue } from "../../../../src/adapters/shared/walk.ts"
import type { SourceValue } from "../../../../src/adapters/source-value.ts"
import { isJsonObject } from "../../../../src/model/json.ts"

const SHAPE: DocumentShape = {
  key: "messages",
  idOf: (item) => (isJsonObject(item) && typeof item["id"] === "string" ? item["id"] : undefined),
}

export const chats: Adapter = {
  id: "chats",
  title: "Chats",
  judged: { by: "source only", from: "1.0.0", to: "1.0.0" },
  source: {
    roots: (_, home) => [join(home, ".chats")],
    *plan(root) {
      for (const file of filesBelow(root, { form: "document", depthMax: 0, accepts: (path) => path.endsWith(".json") }))
        yield isIssue(file) ? file : { key: file.relativePath, root, files: [file] }
    },
  },
  parse,
  context: ({ entries }) => entries.filter(({ parts }) => parts.length > 0),
  serialize: {
    native: (session, sink) => createDocumentSerializer(session, sink, SHAPE),
    foreign: ({ session }) => ({ sessionId: session.id, losses: [] }),
    resume: (sessionId, cwd) => ({ command: ["chats", sessionId], cwd }),
  },
  output: { sessionIds: /^[0-9a-z]+(?:-[0-9a-z]+)*$/, relativePaths: [/^[\w-]+\.json$/] },
}

function parse(unit: SourceUnit, sink: ParseSink): Parser {
  const writer = createSessionWriter(mainFileOf(unit), sink)
  return {
    push(raw) {
      const document = readJson(raw, writer)
      if (document === undefined) return
      begin(writer, document)
      const split = splitDocument(document, SHAPE)
      // Under its own id, so that the header of a document that grew is a revision and no second one.
      writer.carrier(raw, split?.header ?? document, { id: nonEmptyStringAt(document, "id") })
      for (const item of split?.items ?? []) {
        const text = stringAt(item, "text")
        const fields = { id: nonEmptyStringAt(item, "id"), timestamp: timestampAt(item, "at") }
        const role = valueAt(item, "who") === "user" ? "user" : "assistant"
        if (text === undefined) writer.carrier(raw, item, fields)
        else writer.record(raw, item, [{ ...fields, role, parts: [textPart({ provenance: "conversational", text })] }])
      }
    },
    end() {
      writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

function begin(writer: SessionWriter, document: SourceValue): void {
  const id = nonEmptyStringAt(document, "id")
  const project = nonEmptyStringAt(document, "cwd")
  const createdAt = timestampAt(document, "at")
  if (id === undefined || project === undefined || createdAt === undefined) return
  writer.begin({ id, sourceAgent: sealedOrigin(chats), project, createdAt })
}
