/**
 * Whether pond can work here. Each check looks at one thing and answers with a finding; no check stops the others.
 *
 * To add a check: one line in `CHECKS`. `examine` returns what it saw, or throws a `PondError` whose message names the
 * next step; a warning is for what works, but not as well as it could.
 */
import { EXIT_NOT_WHOLE, toPondError } from "../model/errors.ts"
import { VARIABLES } from "../platform/config.ts"
import { nearest } from "../platform/nearest.ts"
import { ensureWritable, type Place } from "../platform/paths.ts"
import { embeddingEngine, sqlEngine, storeEngine, unpackedLibraries } from "./native-checks.ts"
import type { Pond } from "./pond.ts"

interface Seen {
  readonly status: "ok" | "warning"
  readonly found: string
}

interface Check {
  readonly name: string
  readonly examine: (pond: Pond) => Seen | Promise<Seen>
}

export interface Finding {
  readonly check: string
  readonly status: "ok" | "warning" | "failed"
  readonly found: string
}

export interface Examination {
  readonly findings: readonly Finding[]
  readonly ok: boolean
}

const CHECKS: readonly Check[] = [
  { name: "config", examine: readConfig },
  { name: "environment", examine: knownVariables },
  { name: "data directory", examine: (pond) => writableDirectory(pond, "data") },
  { name: "state directory", examine: (pond) => writableDirectory(pond, "state") },
  { name: "cache directory", examine: (pond) => writableDirectory(pond, "cache") },
  { name: "store engine", examine: async (pond) => works(await storeEngine(pond)) },
  { name: "embedding engine", examine: async () => works(await embeddingEngine()) },
  { name: "SQL engine", examine: async () => works(await sqlEngine()) },
  { name: "native libraries", examine: () => works(unpackedLibraries()) },
]

export async function examine(pond: Pond): Promise<Examination> {
  const findings: Finding[] = []
  for (const check of CHECKS) findings.push(await find(check, pond))
  return { findings, ok: findings.every(({ status }) => status !== "failed") }
}

/** A check that failed is work done, with something that was not whole. */
export function exitCodeOf({ ok }: Examination): number {
  return ok ? 0 : EXIT_NOT_WHOLE
}

async function find({ name, examine: look }: Check, pond: Pond): Promise<Finding> {
  try {
    return { check: name, ...(await look(pond)) }
  } catch (error) {
    if (error instanceof Error) pond.host.log.debug(`${name}: ${error.stack ?? error.message}`)
    return { check: name, status: "failed", found: toPondError(error).message }
  }
}

function works(found: string): Seen {
  return { status: "ok", found }
}

function readConfig({ host }: Pond): Seen {
  const { file } = host.settings()
  return { status: "ok", found: file.exists ? file.path : `${file.path} is not there; defaults apply` }
}

/** A mistyped variable does nothing at all, and says nothing either. */
function knownVariables({ host }: Pond): Seen {
  const known = VARIABLES
  const strange = Object.keys(host.environment).filter((name) => name.startsWith("POND_") && !known.includes(name))
  if (strange.length === 0) return { status: "ok", found: "no unknown POND_ variable" }
  const named = strange.map((name) => {
    const near = nearest(name, known)
    return near === undefined ? name : `${name} (did you mean ${near}?)`
  })
  return { status: "warning", found: `pond reads no ${named.join(", ")}` }
}

function writableDirectory({ host }: Pond, place: Place): Seen {
  return { status: "ok", found: ensureWritable(host.path(place)) }
}
