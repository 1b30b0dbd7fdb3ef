/** Prompts from canonical: the document of their lines. The client's own list of prompts is never written to. */
import type { Serialize } from "../adapter.ts"
import { opensNothing } from "../shared/read-only.ts"
import type { Brand } from "./brands.ts"
import type { promptsCodec } from "./parse.ts"

export function serializeOf({ title }: Brand, { native }: ReturnType<typeof promptsCodec>): Serialize {
  return { native, resume: opensNothing(title) }
}
