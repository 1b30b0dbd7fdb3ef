/** The live conversation: what was said. What tools did is told in Markdown alone. */
import type { Adapter } from "../adapter.ts"
import { history } from "./parse.ts"

export const context: Adapter["context"] = history.context
