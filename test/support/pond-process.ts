/** Runs pond as its users do: a process with its own environment, from a bundle of the source tree. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { POND } from "./bundled-pond.ts"

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** The whole environment; `PATH` is added. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** What to run in place of pond's own entry. */
  readonly main?: string
}

export async function runPond(args: readonly string[], { env = {}, cwd, main = POND }: RunOptions = {}): Promise<Ran> {
  const child = Bun.spawn([process.execPath, main, ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { stdout, stderr, exitCode }
}

/** An empty home, gone when the test is. */
export interface TemporaryHome extends Disposable {
  readonly path: string
  readonly env: Readonly<Record<string, string>>
}

export function temporaryHome(): TemporaryHome {
  const path = mkdtempSync(join(tmpdir(), "pond-home-"))
  mkdirSync(join(path, ".config/pond"), { recursive: true })
  return { path, env: { HOME: path }, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
