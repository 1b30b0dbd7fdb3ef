/** Antigravity from canonical: the document of a conversation, or its transcript. Nothing is written into its databases. */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer, mainPlaceOf } from "../shared/native.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, conversation } from "./parse.ts"

export const serialize: Serialize = {
  native: (session, sink) =>
    mainPlaceOf({ session, entries: [] }).endsWith(".jsonl")
      ? createNativeSerializer(session, sink)
      : conversation.native(session, sink),
  resume: opensNothing(BRAND.title),
}
