/** Whether something that was built is older than what it was made of. */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { ROOT } from "../release/packages.ts"

const MADE_OF = ["src", "build", "package.json", "bun.lock"]

export function isStale(built: string): boolean {
  const stat = statSync(built, { throwIfNoEntry: false })
  return stat === undefined || MADE_OF.some((name) => newestMs(join(ROOT, name)) > stat.mtimeMs)
}

function newestMs(path: string): number {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))))
}
