/** Where aider keeps what was said: in each directory that it worked in, of which it keeps no list. */
import { existsSync } from "node:fs"
import { dirname, isAbsolute, join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

/** A directory that was named. pond looks besides where other clients worked, and where it is told to. */
export function roots(environment: Environment): readonly string[] {
  const named = environment["AIDER_CHAT_HISTORY_FILE"] ?? ""
  return isAbsolute(named) ? [dirname(named)] : []
}

export const CHAT_ALONE = ".aider.chat.history.md"

export function isIn(project: string): boolean {
  return isAbsolute(project) && existsSync(join(project, CHAT_ALONE))
}
