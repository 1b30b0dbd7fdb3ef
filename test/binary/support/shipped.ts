/** The built executable as a user has it: one file in a separate directory, a separate home, nothing else. */
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const BUILT = join(import.meta.dir, "../../../dist/pond")

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Shipped extends Disposable {
  /** The executable. */
  readonly path: string
  readonly directory: string
  readonly home: string
  /** Where the native libraries are unpacked to. */
  readonly natives: string
  run(...args: readonly string[]): Promise<Ended>
  /** The same, with another environment, in front of another program, or both. */
  runWith(changes: Changes, ...args: readonly string[]): Promise<Ended>
}

export interface Changes {
  readonly environment?: Readonly<Record<string, string>>
  /** What starts the executable: `strace …`, `unshare …`. */
  readonly through?: readonly string[]
}

export function shipped(): Shipped {
  const root = mkdtempSync(join(tmpdir(), "pond-shipped-"))
  const directory = join(root, "here")
  const home = join(root, "home")
  mkdirSync(directory)
  mkdirSync(home)
  const pond = join(root, "pond")
  place(pond)
  const runWith = async ({ environment = {}, through = [] }: Changes, ...args: readonly string[]): Promise<Ended> => {
    const child = Bun.spawn([...through, pond, ...args], {
      cwd: directory,
      env: { HOME: home, PATH: "/usr/bin:/bin", ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, out, err }
  }
  return {
    path: pond,
    directory,
    home,
    natives: join(home, ".cache/pond/native"),
    run: (...args) => runWith({}, ...args),
    runWith,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** A second name costs nothing; another file system needs a copy. */
function place(path: string): void {
  try {
    linkSync(BUILT, path)
  } catch {
    copyFileSync(BUILT, path)
  }
}

export interface Finding {
  readonly check: string
  readonly status: string
  readonly found: string
}

export function findingsOf({ out }: Ended): Record<string, Finding> {
  const { findings } = JSON.parse(out) as { findings: Finding[] }
  return Object.fromEntries(findings.map((finding) => [finding.check, finding]))
}

/** Files under `directory` whose name ends so, as paths. */
export function filesBelow(directory: string, ending: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(directory, name))
}

/** The command that takes the network away, where this machine lets us; otherwise nothing. */
export function withoutNetwork(): readonly string[] {
  const through = ["unshare", "--map-root-user", "--net"]
  if (Bun.which("unshare") === null) return []
  return Bun.spawnSync([...through, "true"]).success ? through : []
}
