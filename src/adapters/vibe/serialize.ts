/** Vibe from canonical: its files as they were, or a log that it takes over (`foreign.ts`). */
import { dirname } from "node:path"
import { isJsonObject, type JsonValue, parseJson } from "../../model/json.ts"
import type { FileSink, Serialize } from "../adapter.ts"
import { keyedSerializer } from "../shared/keyed-serializer.ts"
import { mainPlaceOf } from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import { foreign } from "./foreign.ts"
import { BRAND, canonicalText, isHashed, isManifest, isOldDocument, messages } from "./records.ts"

export const serialize: Serialize = {
  native: (session, sink) => {
    const stored = storeSink(sink)
    const serializer = keyedSerializer(session, stored, messages)
    return {
      push: serializer.push,
      end: () => {
        const end = serializer.end()
        stored.addJournals()
        return isOldDocument(mainPlaceOf({ session, entries: [] })) ? { ...end, isOutdated: true } : end
      },
    }
  },
  foreign,
  resume: (sessionId, cwd, { root } = {}) => {
    const command = ["vibe", "--resume", sessionId]
    if (root === undefined) return { command, cwd }
    return { ...inOtherHome(BRAND.title, { VIBE_HOME: dirname(dirname(root)) }), command, cwd }
  },
}

/** Files of the store are written with the bytes that their hashes are of, and a journal with nothing in it, without which it opens none. */
function storeSink(sink: FileSink): FileSink & { addJournals(): void } {
  const written = new Set<string>()
  const journals = new Set<string>()
  return {
    ...sink,
    line: (relativePath, line) => {
      written.add(relativePath)
      sink.line(relativePath, line)
    },
    file: (file) => {
      const { relativePath } = file
      written.add(relativePath)
      if (file.form !== "document" || !isHashed(relativePath)) return sink.file(file)
      const parsed = parseJson(file.text)
      if (!parsed.ok) return sink.file(file)
      const journal = journalOf(parsed.value)
      const store = /^(.*\/)generations\/\d{16}\/manifest\.json$/.exec(relativePath)?.[1]
      if (journal !== undefined && store !== undefined) journals.add(`${store}${journal}`)
      sink.file({ ...file, text: `${canonicalText(parsed.value)}\n` })
    },
    addJournals: () => {
      for (const relativePath of journals)
        if (!written.has(relativePath)) sink.file({ form: "text", relativePath, text: "" })
    },
  }
}

function journalOf(manifest: JsonValue): string | undefined {
  const segment = isManifest(manifest) ? manifest["recovery_journal_segment"] : undefined
  const path = isJsonObject(segment) ? segment["path"] : undefined
  return typeof path === "string" && /^journal\/\d{16}\.jsonl$/.test(path) ? path : undefined
}
