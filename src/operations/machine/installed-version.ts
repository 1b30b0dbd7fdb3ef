/**
 * Whether the client that is installed here is older than the one that wrote a session. Clients write their sessions in other
 * forms from time to time, and an older one reads a newer form without what it does not know, and without a word.
 */
import { PondError } from "../../model/errors.ts"
import { runProgram } from "../../platform/process/programs.ts"
import type { Pond } from "../pond.ts"

export interface OlderClient {
  readonly installed: string
  /** The newest version that wrote something of the session. */
  readonly wrote: string
}

interface NativePlan {
  readonly fidelity: "native" | "foreign"
  readonly clientVersions: readonly string[]
  readonly resume: { readonly command: readonly string[] }
}

const VERSION = /\d+\.\d+(?:\.\d+)?/

/** Nothing where it is as new, not installed, or does not say. Patches of one version read the same. */
export async function olderClient(
  { host }: Pond,
  { fidelity, clientVersions, resume }: NativePlan,
): Promise<OlderClient | undefined> {
  const wrote = clientVersions.toSorted(byVersion).at(-1)
  const program = resume.command[0]
  if (fidelity !== "native" || wrote === undefined || program === undefined) return undefined
  const said = await runProgram([program, "--version"], host.environment).catch(unanswered)
  const installed = said?.exitCode === 0 ? VERSION.exec(said.stdout)?.[0] : undefined
  if (installed === undefined || byVersion(minorOf(installed), minorOf(wrote)) >= 0) return undefined
  return { installed, wrote }
}

function unanswered(error: unknown): undefined {
  if (error instanceof PondError) return undefined
  throw error
}

function byVersion(left: string, right: string): number {
  return left.localeCompare(right, "en", { numeric: true })
}

function minorOf(version: string): string {
  return version.split(".").slice(0, 2).join(".")
}
