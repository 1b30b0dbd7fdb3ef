/** The Gemini app from canonical: the record as it stood in the export, in a separate file. The product reads none back. */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND } from "./parse.ts"

export const serialize: Serialize = { native: createNativeSerializer, resume: opensNothing(BRAND.title) }
