/** Other programs of this machine: where they are, and running one to its end. Knows nothing of what they are for. */
import { realpathSync } from "node:fs"
import { PondError } from "../../model/errors.ts"
import type { Environment } from "../host/environment.ts"
import { isExecutable } from "../threads.ts"

export interface ProgramRun {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

const PATIENCE_MS = 30_000

/** The absolute path of a program that the user could type; nothing where there is none. */
export function findProgram(name: string, environment: Environment): string | undefined {
  return Bun.which(name, { PATH: environment["PATH"] ?? "" }) ?? undefined
}

/** A program that is not there, or does not end in time, is a failure; one that ends with its own code is not. */
export async function runProgram(
  command: readonly string[],
  environment: Environment,
  { input = "", cwd }: { readonly input?: string; readonly cwd?: string } = {},
): Promise<ProgramRun> {
  const [name = "", ...args] = command
  const path = findProgram(name, environment)
  if (path === undefined) throw unavailable(name, "is not on the PATH")
  const child = Bun.spawn([path, ...args], {
    env: environment as Record<string, string>,
    ...(cwd === undefined ? {} : { cwd }),
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: PATIENCE_MS,
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (child.signalCode !== null) throw unavailable(name, `did not end, and was stopped (${child.signalCode})`)
  return { exitCode, stdout, stderr }
}

function unavailable(name: string, why: string): PondError {
  return new PondError("not_found", `${name} ${why}.`, { details: { program: name } })
}

/**
 * How to start this pond again, from anywhere: an absolute command. The name under which the PATH has it comes first: the
 * file behind it carries its version in its path on some systems, and goes with the next one.
 */
export function ownCommand(environment: Environment): readonly string[] {
  if (!isExecutable()) return [process.execPath, Bun.main]
  const named = findProgram("pond", environment)
  const isThis = named !== undefined && realpathSync(named) === realpathSync(process.execPath)
  return [isThis ? named : process.execPath]
}
