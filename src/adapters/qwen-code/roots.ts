/** Where Qwen Code keeps its sessions, by its variables and defaults. */
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export function roots(environment: Environment, home: string): readonly string[] {
  const runtime = expanded(environment["QWEN_RUNTIME_DIR"], home)
  return [...new Set([...(runtime === undefined ? [] : [runtime]), homeOf(environment, home)])]
}

/** Where its settings are, too. */
export function homeOf(environment: Environment, home: string): string {
  return expanded(environment["QWEN_HOME"], home) ?? join(home, ".qwen")
}

function expanded(path: string | undefined, home: string): string | undefined {
  if (path === undefined || path === "") return undefined
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path
}
