/** Devin's command line from canonical: the document of a session. Nothing is written into its database. */
import type { Serialize } from "../adapter.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, session } from "./parse.ts"

export const serialize: Serialize = { native: session.native, resume: opensNothing(BRAND.title) }
