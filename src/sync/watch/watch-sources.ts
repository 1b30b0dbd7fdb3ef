/**
 * Watches the sources: a change is stored within two seconds, at a cost that depends on the change alone. Events only
 * say where something happened; a scan of that path finds out what, so the order of events does not matter. A
 * generation counter notices changes during a read, and a periodic sweep finds what no event reported.
 */
import { existsSync } from "node:fs"
import type { SourceUnit } from "../../adapters/adapter.ts"
import type { Clock } from "../../platform/host/clock.ts"
import type { Log } from "../../platform/host/log.ts"
import { pause } from "../../platform/pause.ts"
import type { ImportSource } from "../import.ts"
import { createRootEvents } from "./root-events.ts"
import { createUnitIndex, type UnitIndex } from "./unit-index.ts"

export interface WatchContext {
  /** Called on every turn of the loop, so that a client that is installed later is followed too. */
  readonly sources: () => readonly ImportSource[]
  /** Syncs the sources. A failure that a later round can mend is reported and returned as `failed`. */
  readonly sync: (sources: readonly ImportSource[]) => Promise<Round>
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly log: Log
  readonly times?: Partial<WatchTimes>
}

/** What a round found: news, nothing, or a failure to store. */
export type Round = "news" | "nothing" | "failed"

export interface WatchTimes {
  /** Debounce: how long a burst of writes may last. */
  readonly settleMs: number
  /** Minimum interval between two syncs: each costs a commit. */
  readonly apartMs: number
  /** Interval of the sweep over everything. It doubles up to the maximum as long as a sweep finds nothing. */
  readonly sweepMs: number
  readonly sweepMsMax: number
  /** Interval at which clients are listed and roots without events are polled. */
  readonly pollMs: number
  /** How long to wait before a root without events is tried again. */
  readonly retryMs: number
}

const TIMES: WatchTimes = {
  settleMs: 100,
  apartMs: 800,
  sweepMs: 30_000,
  sweepMsMax: 240_000,
  pollMs: 1_000,
  retryMs: 300_000,
}

/** A process that slept this long may have missed events, because the system's queue is finite. */
const SLEPT_MS = 10_000

/** Backoff: a failed round is tried again after twice the time before. */
const AGAIN_MS = 1_000
const AGAIN_MS_MAX = 60_000

/** Resolves when the signal is aborted. */
export async function watchSources(context: WatchContext): Promise<void> {
  const { signal } = context
  const dirt = createDirtyPaths()
  const following = createWatchLoop(context, dirt)
  const stop = () => dirt.wake()
  signal.addEventListener("abort", stop)
  try {
    while (!signal.aborted) {
      const sources = following.scanSources()
      if (!following.isAnyDue(sources)) {
        await following.idle()
        continue
      }
      await pause(following.debounceMs(), signal)
      if (!signal.aborted) await following.round(sources)
    }
  } finally {
    signal.removeEventListener("abort", stop)
    following.close()
  }
}

type Sources = readonly ImportSource[]

interface WatchLoop {
  /** Lists and follows the sources, and polls those without events. */
  scanSources(): Sources
  isAnyDue(sources: Sources): boolean
  /** How long to wait before the next round: debounce and minimum interval. */
  debounceMs(): number
  round(sources: Sources): Promise<void>
  /** Waits for an event or the next poll or sweep. */
  idle(): Promise<void>
  close(): void
}

function createWatchLoop(
  { sources: listed, sync, clock, log, times: given }: WatchContext,
  dirt: DirtyPaths,
): WatchLoop {
  const times = { ...TIMES, ...given }
  const events = createRootEvents({ log, onEvent: dirt.markDirty, retryMs: times.retryMs })
  const known = new Map<string, UnitIndex>()
  let [sweptAtMs, polledAtMs, notBeforeMs] = [Number.NEGATIVE_INFINITY, clock.monotonicMs(), 0]
  let [sweepIntervalMs, failures] = [times.sweepMs, 0]

  const sweepInMs = () => sweptAtMs + sweepIntervalMs - clock.monotonicMs()
  const isDue = (source: ImportSource) => dirt.isDirty(source.root) || !known.has(nameOf(source))

  function poll(blind: Sources): void {
    if (clock.monotonicMs() - polledAtMs < times.pollMs) return
    polledAtMs = clock.monotonicMs()
    for (const source of blind) {
      const changed = known.get(nameOf(source))?.look(clock.nowMs()) ?? []
      if (changed === "all") dirt.markDirty(source.root, undefined)
      else for (const place of changed) dirt.markDirty(source.root, place)
    }
  }

  function plan(nextMs: number, round: Round, isSweep: boolean): void {
    failures = round === "failed" ? failures + 1 : 0
    notBeforeMs = failures === 0 ? nextMs : clock.monotonicMs() + Math.min(AGAIN_MS * 2 ** failures, AGAIN_MS_MAX)
    if (isSweep) sweepIntervalMs = round === "nothing" ? Math.min(2 * sweepIntervalMs, times.sweepMsMax) : times.sweepMs
  }

  return {
    scanSources: () => {
      const sources = listed()
      events.follow(sources, clock.monotonicMs())
      poll(sources.filter(({ root }) => events.isBlind(root)))
      return sources
    },
    isAnyDue: (sources) => sweepInMs() <= 0 || sources.some(isDue),
    debounceMs: () => Math.max(times.settleMs, notBeforeMs - clock.monotonicMs()),
    round: async (sources) => {
      const isSweep = sweepInMs() <= 0
      if (isSweep) sweptAtMs = clock.monotonicMs()
      const nextMs = clock.monotonicMs() + times.apartMs
      const [seen, plannedAtMs] = [dirt.generation(), clock.nowMs()]
      const due = isSweep ? sources : sources.filter(isDue)
      const scans = due.map((source) => planScan(source, isSweep, known, dirt))
      const asked = scans.map(({ source }) => source).filter(({ only }) => only?.length !== 0)
      const beganMs = clock.monotonicMs()
      const round = asked.length === 0 ? "nothing" : await sync(asked)
      log.debug(`${wordsOf(isSweep, asked)}: ${round}, ${Math.round(clock.monotonicMs() - beganMs)} ms`)
      for (const scan of scans) {
        const { source } = scan
        // A path that became dirty during the read stays dirty, because its generation is higher.
        dirt.markClean(source.root, seen)
        const units = knownFrom(scan, plannedAtMs)
        if (units !== undefined) known.set(nameOf(source), units)
        if (round === "failed") dirt.markDirty(source.root, undefined)
      }
      plan(nextMs, round, isSweep)
    },
    idle: async () => {
      // A client that is installed or comes back sends no event.
      const ms = Math.min(sweepInMs(), times.pollMs)
      const fromMs = clock.nowMs()
      await dirt.nextOr(ms)
      if (clock.nowMs() - fromMs > ms + SLEPT_MS)
        [sweptAtMs, sweepIntervalMs] = [Number.NEGATIVE_INFINITY, times.sweepMs]
    },
    close: () => events.close(),
  }
}

function wordsOf(isSweep: boolean, asked: Sources): string {
  if (isSweep) return "a look at everything"
  return asked.map(({ adapter, only }) => `${only === undefined ? "all" : only.length} of ${adapter.id}`).join(", ")
}

/** Two adapters may have the same root. */
function nameOf({ adapter, root }: ImportSource): string {
  return `${adapter.id}\n${root}`
}

/** A root that was missing during the plan may be back unchanged, and nothing would tell that it was not planned. */
function knownFrom({ source, isThere, met }: Scan, plannedAtMs: number): UnitIndex | undefined {
  if (met === undefined) return undefined
  const { root } = source
  if (isThere && existsSync(root)) return createUnitIndex(source, met, plannedAtMs)
  return { at: () => undefined, look: () => (existsSync(root) ? "all" : []) }
}

interface Scan {
  readonly source: ImportSource
  /** Whether the root existed when the plan began. */
  readonly isThere: boolean
  /** For a scan of the whole root: the units that were found. */
  readonly met: SourceUnit[] | undefined
}

function planScan(
  source: ImportSource,
  isSweep: boolean,
  known: ReadonlyMap<string, UnitIndex>,
  dirt: DirtyPaths,
): Scan {
  const places = isSweep ? undefined : dirt.placesOf(source.root)
  const only = places === undefined ? undefined : known.get(nameOf(source))?.at(places)
  const isThere = existsSync(source.root)
  if (only !== undefined) return { source: { ...source, only }, met: undefined, isThere }
  const met: SourceUnit[] = []
  return { source: { ...source, onUnit: (unit) => met.push(unit) }, met, isThere }
}

// --- What is dirty -----------------------------------------------------------------------------------------------------

interface DirtyPaths {
  /** Without a path, anything in the root may have changed. */
  markDirty(root: string, place: string | undefined): void
  markClean(root: string, seen: number): void
  isDirty(root: string): boolean
  /** Undefined if the whole root must be scanned. */
  placesOf(root: string): readonly string[] | undefined
  generation(): number
  wake(): void
  /** Waits for an event, at most so long. */
  nextOr(ms: number): Promise<void>
}

const ANYWHERE = ""
/** More paths than this are scanned faster as a whole root. */
const PLACES_MAX = 256

/** Dirty paths with the generation of their last event. A read that began earlier does not clean them. */
function createDirtyPaths(): DirtyPaths {
  const dirtyAt = new Map<string, Map<string, number>>()
  let generation = 0
  let wakeUp: (() => void) | undefined
  /**
   * Set if `wake` was called while nobody waited, for example by an abort during a sync: the next wait ends at once.
   */
  let isCalled = false
  const wake = () => {
    isCalled = true
    wakeUp?.()
    wakeUp = undefined
  }
  return {
    markDirty: (root, place) => {
      const places = dirtyAt.get(root) ?? new Map<string, number>()
      places.set(places.size < PLACES_MAX ? (place ?? ANYWHERE) : ANYWHERE, ++generation)
      dirtyAt.set(root, places)
      wake()
    },
    markClean: (root, seen) => {
      const left = [...(dirtyAt.get(root) ?? [])].filter(([, at]) => at > seen)
      if (left.length === 0) dirtyAt.delete(root)
      else dirtyAt.set(root, new Map(left))
    },
    isDirty: (root) => dirtyAt.has(root),
    placesOf: (root) => {
      const places = dirtyAt.get(root)
      return places === undefined || places.has(ANYWHERE) ? undefined : [...places.keys()]
    },
    generation: () => generation,
    wake,
    nextOr: async (ms) => {
      if (!isCalled && ms > 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wakeUp = resolve
        const timer = setTimeout(wake, ms)
        await promise
        clearTimeout(timer)
      }
      isCalled = false
    },
  }
}
