/** A transcript from canonical: its lines as they were. The session itself lies with opencode. */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND } from "./parse.ts"

export const serialize: Serialize = { native: createNativeSerializer, resume: opensNothing(BRAND.title) }
