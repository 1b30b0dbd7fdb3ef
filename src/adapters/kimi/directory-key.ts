/** The folder of a directory's sessions: its name, made plain, and a hash of its path. */
import { sha256Of } from "../../platform/sha256.ts"

const NAME_UNITS = 40
const HASH_DIGITS = 12

export function keyOfDirectory(directory: string): string {
  const path = directory.replaceAll("\\", "/").replace(/(.)\/+$/, "$1")
  const name = (path.split("/").at(-1) ?? "").toLowerCase().replace(/[^a-z0-9._-]+/g, "-")
  const plain = name.replace(/^-+|-+$/g, "").slice(0, NAME_UNITS)
  return `wd_${plain === "" ? "workspace" : plain}_${sha256Of(path).slice(0, HASH_DIGITS)}`
}

/** Sessions of kimi-cli lie below a hash that its successor does not ask for. */
export function movedTo(relativePath: string, from: string, to: string): string {
  return relativePath.replace(`sessions/${keyOfDirectory(from)}/`, `sessions/${keyOfDirectory(to)}/`)
}
