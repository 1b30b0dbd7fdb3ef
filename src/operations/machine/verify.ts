/**
 * Prove for sessions on this machine that nothing of them would be lost: what a native restore would write, against what
 * lies there. Not on the wire: it reads this machine, so only its owner asks for it.
 */
import { existsSync, mkdtempSync, readdirSync } from "node:fs"
import { rm } from "node:fs/promises"
import { hostname } from "node:os"
import { join } from "node:path"
import { EXIT_NOT_WHOLE, PondError } from "../../model/errors.ts"
import { openFileLock } from "../../platform/files/file-lock.ts"
import { ensureWritable } from "../../platform/host/paths.ts"
import { type Passage, type SourceVerification, type VerifyContext, verify } from "../../restore/verify.ts"
import type { Pond } from "../pond.ts"
import { importSources } from "./sync.ts"

export interface VerifyOptions {
  /** The ids of adapters; none means all. */
  readonly adapters: readonly string[]
  /** A root other than the client's own. */
  readonly path?: string | undefined
  readonly sessionId?: string | undefined
  /** Whether each session is also written to a separate store and read back. */
  readonly throughStore: boolean
  /** Whether each session is compared with what the store contains of it. */
  readonly againstStore: boolean
}

export type VerifyHooks = Pick<VerifyContext, "signal" | "onPlan" | "onProgress">

export interface Verification {
  readonly adapters: readonly SourceVerification[]
  /** Whether every session comes back whole. */
  readonly ok: boolean
}

export async function verifyPond(pond: Pond, options: VerifyOptions, hooks: VerifyHooks): Promise<Verification> {
  const cache = ensureWritable(pond.host.path("cache"))
  await removeLeft(cache)
  await using drafts = openScratch(cache)
  const request = {
    sources: importSources(pond, options),
    sessionId: options.sessionId,
    openPassage: passageOf(pond, options),
    draftFolder: drafts.path,
  }
  const adapters = await verify(request, { clock: pond.host.clock, ...hooks })
  if (hooks.signal.aborted) throw new PondError("interrupted", "Stopped before everything was verified.")
  if (options.sessionId !== undefined && adapters.every(({ sessions }) => sessions === 0)) {
    throw new PondError("not_found", `No file of these clients contains session ${options.sessionId}.`, {
      details: { session: options.sessionId },
    })
  }
  return { adapters, ok: adapters.every(({ mismatches, missing }) => mismatches.length + missing.length === 0) }
}

function passageOf(pond: Pond, { throughStore, againstStore }: VerifyOptions): (() => Promise<Passage>) | undefined {
  if (throughStore && againstStore) {
    throw new PondError("validation_failed", "--through-store and --against-store cannot be combined.")
  }
  if (againstStore) return () => openHeld(pond)
  return throughStore ? () => openPassage(pond) : undefined
}

async function openHeld(pond: Pond): Promise<Passage> {
  const [sessions, { heldPassage }] = await Promise.all([pond.sessions(), import("../../restore/verify-passage.ts")])
  return heldPassage(sessions)
}

/** 4 where something does not come back, or where a source is broken: what is broken comes back as it lies. */
export function verifyExitCode({ adapters, ok }: Verification): number {
  const isWhole = adapters.every(({ issues }) => issues.every(({ severity }) => severity === "note"))
  return ok && isWhole ? 0 : EXIT_NOT_WHOLE
}

/** A store in a separate directory, loaded when first asked for. */
async function openPassage({ host }: Pond): Promise<Passage> {
  const [{ openStore }, { parseLocation }, { openSessions }, { storePassage }] = await Promise.all([
    import("../../substrate/open-store.ts"),
    import("../../substrate/location.ts"),
    import("../../sessions/store.ts"),
    import("../../restore/verify-passage.ts"),
  ])
  const scratch = openScratch(host.path("cache"))
  const store = openStore(parseLocation(scratch.path, { environment: host.environment }), host)
  const sessions = openSessions(store, { clock: host.clock, host: hostname() })
  return storePassage(sessions, async () => await scratch[Symbol.asyncDispose]())
}

/** A directory of this run's own. */
function openScratch(cache: string): AsyncDisposable & { readonly path: string } {
  const path = mkdtempSync(join(cache, PASSAGE))
  const lock = openFileLock(join(path, LOCK))
  lock.take()
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      lock.close()
      await rm(path, { recursive: true, force: true })
    },
  }
}

const PASSAGE = "verify-"
const LOCK = "in-use"

/** Left by a run that was killed. A run that is still alive holds its lock. */
async function removeLeft(cache: string): Promise<void> {
  for (const name of readdirSync(cache).filter((each) => each.startsWith(PASSAGE))) {
    if (!existsSync(join(cache, name, LOCK))) continue
    const lock = openFileLock(join(cache, name, LOCK))
    const isLeft = lock.take()
    lock.close()
    if (isLeft) await rm(join(cache, name), { recursive: true, force: true })
  }
}
