/** A session from canonical: the document of its events. Nothing can be put into a managed session but new prompts. */
import type { Serialize } from "../adapter.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, events } from "./parse.ts"

export const serialize: Serialize = { native: events.native, resume: opensNothing(BRAND.title) }
