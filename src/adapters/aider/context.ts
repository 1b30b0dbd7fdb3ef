/** The live conversation: prompts and answers. What the program said itself, aider leaves out when it takes a history up. */
import type { Adapter } from "../adapter.ts"
import { history } from "./parse.ts"

export const context: Adapter["context"] = (log, ancestors) =>
  history.context(log, ancestors).filter(({ parts }) => parts.some(({ provenance }) => provenance === "conversational"))
