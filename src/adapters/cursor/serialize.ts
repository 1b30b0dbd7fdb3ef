/** Cursor from canonical: the document of a chat, or the lines of a transcript. Nothing is written into the databases of the program. */
import type { Session } from "../../model/session.ts"
import type { FileSink, NativeSerializer, Serialize } from "../adapter.ts"
import { createDocumentSerializer } from "../shared/documents.ts"
import { createNativeSerializer, mainPlaceOf } from "../shared/native.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, isTab, shapeOf } from "./documents.ts"
import { tab } from "./parse.ts"

export const serialize: Serialize = { native, resume: opensNothing(BRAND.title) }

function native(session: Session, sink: FileSink): NativeSerializer {
  const place = mainPlaceOf({ session, entries: [] })
  if (isTab(place)) return tab.native(session, sink)
  if (place.endsWith(".jsonl")) return createNativeSerializer(session, sink)
  return createDocumentSerializer(session, sink, shapeOf)
}
