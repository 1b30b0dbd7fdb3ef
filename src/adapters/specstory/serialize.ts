/** A history from canonical: its text, byte by byte. */
import type { Serialize } from "../adapter.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, history } from "./parse.ts"

export const serialize: Serialize = { native: history.native, resume: opensNothing(BRAND.title) }
