/** Junie from canonical: the lines of its log as they were. What else it needs to go on with a session is not known. */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND } from "./parse.ts"

export const serialize: Serialize = { native: createNativeSerializer, resume: opensNothing(BRAND.title) }
