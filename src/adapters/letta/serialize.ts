/** Letta Code from canonical: the lines of its transcript as they were. The conversation itself lies with a server. */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND } from "./parse.ts"

export const serialize: Serialize = { native: createNativeSerializer, resume: opensNothing(BRAND.title) }
