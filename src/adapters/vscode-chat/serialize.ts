/** A chat from canonical: its document as it was, or the one line that its log amounts to. The editor lists what it noted itself. */
import type { Serialize } from "../adapter.ts"
import { createDocumentSerializer } from "../shared/documents.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, shape } from "./documents.ts"

export const serialize: Serialize = {
  native: (session, sink) => createDocumentSerializer(session, sink, shape),
  resume: opensNothing(BRAND.title),
}
