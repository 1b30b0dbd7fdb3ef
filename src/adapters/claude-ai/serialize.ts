/** Claude.ai from canonical: the conversation as it stood in the export, in a separate file. The product reads none back. */
import type { Serialize } from "../adapter.ts"
import { createDocumentSerializer } from "../shared/documents.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, shape } from "./documents.ts"

export const serialize: Serialize = {
  native: (session, sink) => createDocumentSerializer(session, sink, shape),
  resume: opensNothing(BRAND.title),
}
