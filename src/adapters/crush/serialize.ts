/** Crush from canonical: the document of a session. Nothing is written into the database of a project. */
import type { Serialize } from "../adapter.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, session } from "./parse.ts"

export const serialize: Serialize = { native: session.native, resume: opensNothing(BRAND.title) }
