/** Which other program has a file open to write it. Linux alone says so without being asked for more, of the programs of the same person. */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs"

export interface Writer {
  readonly path: string
  readonly program: string
  readonly processId: number
}

/** The first process found; undefined where there is none, or where this system cannot say. */
export function writerOf(paths: readonly string[]): Writer | undefined {
  if (process.platform !== "linux" || paths.length === 0) return undefined
  const wanted = new Map(paths.flatMap((path) => attempted(() => [[realpathSync(path), path] as const]) ?? []))
  for (const name of attempted(() => readdirSync("/proc")) ?? []) {
    if (!/^\d+$/.test(name)) continue
    for (const number of attempted(() => readdirSync(`/proc/${name}/fd`)) ?? []) {
      const path = wanted.get(attempted(() => readlinkSync(`/proc/${name}/fd/${number}`)) ?? "")
      if (path !== undefined && isForWriting(name, number))
        return { path, program: programOf(name), processId: Number(name) }
    }
  }
  return undefined
}

/** `flags:` is octal, and its last two bits are 1 or 2 of what is open for writing. */
function isForWriting(process: string, number: string): boolean {
  const text = attempted(() => readFileSync(`/proc/${process}/fdinfo/${number}`, "utf8")) ?? ""
  return (Number.parseInt(/^flags:\s*(\d+)$/m.exec(text)?.[1] ?? "0", 8) & 3) !== 0
}

function programOf(process: string): string {
  return attempted(() => readFileSync(`/proc/${process}/comm`, "utf8"))?.trim() || "A program"
}

/** A process may end while it is looked at, and those of others are not shown. */
function attempted<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
