/** What a trial of a release is, and what trials share: running programs, and the files of the release over HTTP. */
import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { Outcome } from "../lib/outcome.ts"
import { BUILD_CACHE } from "../release/packages.ts"

export interface Trial {
  readonly name: string
  /** What a person would do, as the release notes say it. */
  readonly what: string
  /** Programs of this machine without which it cannot be run. */
  readonly needs: readonly string[]
  readonly needsRoot?: true
  /** The variable that names a file without which it cannot be run. */
  readonly needsFile?: string
  run(release: Released): AsyncIterable<Outcome> | Iterable<Outcome>
}

/** A release as it lies in `dist/release`, and a directory for this trial alone. */
export interface Released {
  readonly folder: string
  readonly version: string
  /** The URL at which a server of this machine has the folder. */
  readonly url: string
  readonly scratch: string
}

/** What is fetched for trials, and kept. */
export const TRIAL_CACHE = join(BUILD_CACHE, "trials")

export interface Ran {
  readonly code: number
  readonly out: string
}

interface Where {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Never sees the environment of whoever runs the trials, but for what the call gives. */
export async function run(command: readonly string[], { cwd, env = {} }: Where = {}): Promise<Ran> {
  const child = Bun.spawn([...command], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", LC_ALL: "C.UTF-8", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out: out + err }
}

/** For what a trial cannot go on without. */
export async function mustRun(command: readonly string[], where: Where = {}): Promise<string> {
  const { code, out } = await run(command, where)
  if (code !== 0) throw new Error(`${command.join(" ").slice(0, 200)} ended with ${code}: ${out.slice(-800)}`)
  return out
}

/** The runtime does not start where `/proc` is empty: a machine has it, and so has a container. Taken away at the end. */
export async function mountProc(root: string): Promise<AsyncDisposable> {
  const place = join(root, "proc")
  mkdirSync(place, { recursive: true })
  await mustRun(["mount", "--bind", "/proc", place])
  return { [Symbol.asyncDispose]: async () => void (await mustRun(["umount", place])) }
}

/** The variables by which the package managers of this machine reach their registries. */
export function networkVariables(): Record<string, string> {
  const names = Object.keys(process.env).filter((name) =>
    /(?:_proxy|^npm_config_|^PIP_|CERT|CA_BUNDLE|CA_FILE|SSL_)/i.test(name),
  )
  const taken = Object.fromEntries(names.map((name) => [name, process.env[name] ?? ""]))
  return { ...taken, HOME: process.env["HOME"] ?? "" }
}

export function outcome(what: string, isRight: boolean, found: string): Outcome {
  return { what, isRight, found: found.trim().split("\n").slice(-3).join(" / ").slice(0, 300) }
}

/** The executable runs, and every library that it unpacks loads. */
export async function doctorOutcome(what: string, command: readonly string[], where: Where): Promise<Outcome> {
  const { code, out } = await run([...command, "doctor"], where)
  const engines = [...out.matchAll(/^ok +(store engine|embedding engine|SQL engine|native libraries)/gm)]
  return outcome(
    `${what}: pond doctor`,
    code === 0 && engines.length === 4,
    code === 0 ? `${engines.length} of 4 engines` : out,
  )
}

/** The one file of the release whose name fits. */
export function fileOf({ folder }: Released, pattern: RegExp): string | undefined {
  const name = readdirSync(folder).find((each) => pattern.test(each))
  return name === undefined ? undefined : join(folder, name)
}

export function scratchFolder({ scratch }: Released, name: string): string {
  const path = join(scratch, name)
  mkdirSync(path, { recursive: true })
  return path
}
