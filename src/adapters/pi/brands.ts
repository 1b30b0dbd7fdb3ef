/**
 * pi, and oh-my-pi, which is made of it: one codec, and what differs. oh-my-pi keeps sessions and its large pictures in two
 * folders, calls what changed hands otherwise, and has further entries.
 */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { Environment } from "../../platform/host/environment.ts"

export interface Brand {
  readonly id: string
  readonly title: string
  /** The program that a person types, and how it is told of a session. */
  readonly resume: readonly [program: string, flag: string]
  /** What stands before the folder of a directory below the root. */
  readonly sessions: "" | "sessions/"
  /** Where pictures lie that are too large for a line, each under the SHA-256 of its bytes. */
  readonly pictures?: "blobs/"
  readonly roots: (environment: Environment, home: string) => readonly string[]
}

export const PI: Brand = {
  id: "pi",
  title: "pi",
  resume: ["pi", "--session"],
  sessions: "",
  roots: (environment, home) => {
    const agent = expanded(environment["PI_CODING_AGENT_DIR"], home) ?? join(home, ".pi", "agent")
    const own = expanded(environment["PI_CODING_AGENT_SESSION_DIR"], home)
    return own === undefined ? [join(agent, "sessions")] : [own, join(agent, "sessions")]
  },
}

export const OH_MY_PI = {
  id: "oh-my-pi",
  title: "oh-my-pi",
  resume: ["omp", "--resume"],
  sessions: "sessions/",
  pictures: "blobs/",
  roots: (environment, home) => {
    const folder = join(home, environment["PI_CONFIG_DIR"] || ".omp")
    const moved = environment["XDG_DATA_HOME"] ? join(environment["XDG_DATA_HOME"], "omp") : undefined
    const isMoved = moved !== undefined && existsSync(moved)
    // Where it lies by XDG, which counts once the folder is there, its agent has no folder.
    return [
      isMoved ? moved : join(folder, "agent"),
      ...profilesIn(join(folder, "profiles")).map((profile) => join(profile, "agent")),
      ...(isMoved ? profilesIn(join(moved, "profiles")) : []),
    ]
  },
} as const satisfies Brand

function profilesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : [])).sort()
}

/** Of pi: a variable names the folder of one directory's sessions, and none is found below it. */
export function isDiverted({ PI_CODING_AGENT_SESSION_DIR: own }: Environment): boolean {
  return Boolean(own)
}

export function expanded(path: string | undefined, home: string): string | undefined {
  if (path === undefined || path === "") return undefined
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path
}
