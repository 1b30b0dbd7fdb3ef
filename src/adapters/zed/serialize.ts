/** Zed from canonical: the document of a thread. Nothing is written into the database of the program. */
import type { Serialize } from "../adapter.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, thread } from "./parse.ts"

export const serialize: Serialize = { native: thread.native, resume: opensNothing(BRAND.title) }
