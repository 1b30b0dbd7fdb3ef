/** yoi from canonical: the lines of a segment and of its trace as they were, and the record of its worker with what was kept of it. */
import type { Serialize } from "../adapter.ts"
import { createNativeSerializer } from "../shared/native.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND } from "./parse.ts"

export const serialize: Serialize = { native: createNativeSerializer, resume: opensNothing(BRAND.title) }
