/** Windsurf from canonical: the lines of a transcript, or the document of a chat. Nothing is written into its databases. */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer, mainPlaceOf } from "../shared/native.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, chat } from "./parse.ts"

export const serialize: Serialize = {
  native: (session, sink) =>
    mainPlaceOf({ session, entries: [] }).endsWith(".jsonl")
      ? createNativeSerializer(session, sink)
      : chat.native(session, sink),
  resume: opensNothing(BRAND.title),
}
