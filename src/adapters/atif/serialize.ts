/** A trajectory from canonical: its document as it was. */
import type { Serialize } from "../adapter.ts"
import { opensNothing } from "../shared/read-only.ts"
import { BRAND, trajectory } from "./parse.ts"

export const serialize: Serialize = { native: trajectory.native, resume: opensNothing(BRAND.title) }
