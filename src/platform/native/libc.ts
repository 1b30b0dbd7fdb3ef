/** The C library that this process runs on: for the two things that the runtime has no words for. */
import { readFileSync } from "node:fs"

/**
 * As an absolute path. A bare name would be looked for in the working directory too, which belongs to strangers.
 */
export function libcPath(): string | undefined {
  if (process.platform === "darwin") return "/usr/lib/libSystem.B.dylib"
  if (process.platform !== "linux") return undefined
  return /\/\S*\/(?:libc\.so\.6|libc\.musl-\S+|ld-musl-\S+)$/m.exec(readFileSync("/proc/self/maps", "utf8"))?.[0]
}
