/**
 * Whether pond can work here. Each check looks at one thing and answers with a finding; no check stops the others.
 *
 * To add a check: one line in `CHECKS`. `examine` returns what it saw, or throws a `PondError` whose message names the
 * next step; a warning is for what works, but not as well as it could. What pond can mend by itself has a `fix`.
 */
import { EXIT_NOT_WHOLE, toPondError } from "../../model/errors.ts"
import { VARIABLES } from "../../platform/config/config.ts"
import { ensureWritable, type Place } from "../../platform/host/paths.ts"
import { nearest } from "../../platform/nearest.ts"
import type { Pond } from "../pond.ts"
import type { Check, Seen, Status } from "./check.ts"
import {
  clientsHere,
  modelOpens,
  privateFiles,
  registrations,
  roomOnDisk,
  scheduleRuns,
  storeIsWhole,
  storeOpens,
} from "./machine-checks.ts"
import { embeddingEngine, sqlEngine, storeEngine, unpackedLibraries } from "./native-checks.ts"

export interface Finding {
  readonly check: string
  readonly status: Status
  readonly found: string
  /** What `--fix` does, or did. */
  readonly fix: { readonly does: string; readonly done: boolean } | null
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
  { name: "disk", examine: roomOnDisk },
  { name: "store engine", examine: async (pond) => works(await storeEngine(pond)) },
  { name: "embedding engine", examine: async () => works(await embeddingEngine()) },
  { name: "SQL engine", examine: async () => works(await sqlEngine()) },
  { name: "native libraries", examine: () => works(unpackedLibraries()) },
  { name: "permissions", examine: privateFiles },
  { name: "store", examine: storeOpens },
  { name: "integrity", examine: storeIsWhole },
  { name: "embedding model", examine: modelOpens },
  { name: "clients", examine: clientsHere },
  { name: "MCP", examine: registrations },
  { name: "schedule", examine: scheduleRuns },
]

export interface ExamineOptions {
  /** Mends what can be mended, and looks again. */
  readonly isMending: boolean
  /** Called before each check. */
  readonly onCheck?: ((name: string, done: number) => void) | undefined
}

export async function examine(pond: Pond, options: ExamineOptions): Promise<Examination> {
  const findings: Finding[] = []
  for (const [done, check] of CHECKS.entries()) {
    options.onCheck?.(check.name, done)
    const found = await find(check, pond, options)
    // What one fault makes of every other check is said once.
    findings.push(
      ...found.filter(
        ({ status, found: text }) => status !== "failed" || findings.every((other) => other.found !== text),
      ),
    )
  }
  return { findings, ok: findings.every(({ status }) => status !== "failed") }
}

/** A check that failed is work done, with something that was not whole. */
export function exitCodeOf({ ok }: Examination): number {
  return ok ? 0 : EXIT_NOT_WHOLE
}

async function find(check: Check, pond: Pond, { isMending }: ExamineOptions): Promise<Finding[]> {
  const seen = await look(check, pond)
  const fixes = seen.flatMap(({ fix }) => fix ?? [])
  if (!isMending || fixes.length === 0) return seen.map((each) => findingOf(check, each, false))
  const failures: Finding[] = []
  for (const fix of fixes) {
    try {
      await fix.act()
    } catch (error) {
      failures.push(findingOf(check, { status: "failed", found: toPondError(error).message, fix }, false))
    }
  }
  const again = await look(check, pond)
  const mended = again.map((each, index) =>
    findingOf(check, each.fix === undefined ? { ...each, ...fixOf(seen[index]) } : each, each.fix === undefined),
  )
  return [...mended, ...failures]
}

function fixOf(seen: Seen | undefined): Pick<Seen, "fix"> {
  return seen?.fix === undefined ? {} : { fix: seen.fix }
}

function findingOf({ name }: Check, { status, found, fix }: Seen, done: boolean): Finding {
  return { check: name, status, found, fix: fix === undefined ? null : { does: fix.does, done } }
}

async function look({ name, examine: see }: Check, pond: Pond): Promise<readonly Seen[]> {
  try {
    const seen = await see(pond)
    return "status" in seen ? [seen] : seen
  } catch (error) {
    if (error instanceof Error) pond.host.log.debug(`${name}: ${error.stack ?? error.message}`)
    return [{ status: "failed", found: toPondError(error).message }]
  }
}

function works(found: string): Seen {
  return { status: "ok", found }
}

function readConfig({ host }: Pond): Seen {
  const { file } = host.settings()
  return { status: "ok", found: file.exists ? file.path : `${file.path} does not exist; using defaults` }
}

/** A mistyped variable does nothing at all, and says nothing either. */
function knownVariables({ host }: Pond): Seen {
  const known = VARIABLES
  const strange = Object.keys(host.environment).filter((name) => name.startsWith("POND_") && !known.includes(name))
  if (strange.length === 0) return { status: "ok", found: "no unknown POND_ variables" }
  const named = strange.map((name) => {
    const near = nearest(name, known)
    return near === undefined ? name : `${name} (did you mean ${near}?)`
  })
  return { status: "warning", found: `unknown variables: ${named.join(", ")}` }
}

function writableDirectory({ host }: Pond, place: Place): Seen {
  return { status: "ok", found: ensureWritable(host.path(place)) }
}
