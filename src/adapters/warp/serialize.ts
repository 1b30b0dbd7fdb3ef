/** Warp from canonical: the document of a conversation. Nothing is written into the database of the terminal. */
import type { Serialize } from "../adapter.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, conversation } from "./parse.ts"

export const serialize: Serialize = { native: conversation.native, resume: opensNothing(BRAND.title) }
