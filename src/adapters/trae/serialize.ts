/** Trae from canonical: the document of a chat. Nothing is written into the databases of the editor. */
import type { Serialize } from "../adapter.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, chat } from "./parse.ts"

export const serialize: Serialize = { native: chat.native, resume: opensNothing(BRAND.title) }
