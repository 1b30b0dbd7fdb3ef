/** pi and oh-my-pi from canonical: a log as it was, or a log as they would have written it (`foreign.ts`). */
import { join } from "node:path"
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import type { FileSink, NativeSerializer, Serialize } from "../adapter.ts"
import { createNativeSerializer, entriesByRecord, sourceOf } from "../shared/native.ts"
import type { Brand } from "./brands.ts"
import { foreignOf } from "./foreign.ts"

export function serializeOf(brand: Brand): Serialize {
  return {
    native: (session, sink) => native(brand, session, sink),
    foreign: foreignOf(brand),
    // By its path it opens a session wherever that lies, with the settings and the login that it always has.
    resume: (sessionId, cwd, { relativePath, root } = {}) => {
      const named = root === undefined || relativePath === undefined ? sessionId : join(root, relativePath)
      return { command: [...brand.resume, named], cwd }
    },
  }
}

/**
 * pi skips what is no JSON, and takes a file for a session where the header of versions 1 to 3 comes first: not one that lost
 * it, and not version 4, which is of the core that pi is made of.
 */
function native({ pictures }: Brand, session: Session, sink: FileSink): NativeSerializer {
  const isShared = (place: string) => pictures !== undefined && place.startsWith(pictures)
  const records = createNativeSerializer(session, sink, isShared)
  let first: JsonValue | undefined
  return {
    push: (entries) => {
      records.push(entries)
      if (first !== undefined) return
      for (const { newest } of entriesByRecord({ session, entries })) {
        first = sourceOf(newest)["record"]
        // The line of the name comes before the header.
        if (isJsonObject(first ?? null) && (first as JsonObject)["type"] === "title") first = undefined
        if (first !== undefined) return
      }
    },
    end: () => ({ ...records.end(), isOutdated: first !== undefined && !isHeader(first) }),
  }
}

function isHeader(record: JsonValue): boolean {
  return isJsonObject(record) && record["type"] === "session" && typeof record["id"] === "string"
}
