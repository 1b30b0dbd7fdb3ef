/** A folder of programs that note how they were called and answer as they were told: the PATH of a pond under test. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface FakePrograms {
  /** For `PATH`: nothing else is on it. */
  readonly path: string
  /** The command lines so far, and what was given on stdin where anything was. */
  calls(): string[]
}

/** `scripts` by name: shell, with the call's arguments in `$*`. */
export function fakePrograms(home: string, scripts: Readonly<Record<string, string>>): FakePrograms {
  const path = join(home, "fake-bin")
  const log = join(home, "fake-calls")
  mkdirSync(path, { recursive: true })
  for (const [name, script] of Object.entries(scripts)) {
    const file = join(path, name)
    writeFileSync(file, `#!/bin/sh\nPATH=/usr/bin:/bin\necho "${name} $*" >> '${log}'\n${script}\n`)
    chmodSync(file, 0o755)
  }
  return { path, calls: () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : []) }
}
