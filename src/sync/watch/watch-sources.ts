/**
 * Follow the sources: a change is stored within two seconds, and costs what changed. Events only say where something
 * happened; what it was is found out by looking there, so that no order of events can mislead. A generation clock notices
 * what changes while it is being read, and a sweep over everything finds what no event told.
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
  /** Asked again and again: a client that is installed later is followed from then on. */
  readonly sources: () => readonly ImportSource[]
  /** Brings the sources into the store. A failure that a later round can mend is reported, and answered with `failed`. */
  readonly sync: (sources: readonly ImportSource[]) => Promise<Round>
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly log: Log
  readonly times?: Partial<WatchTimes>
}

/** What a round met: something to read, nothing, or what kept it from storing what it read. */
export type Round = "news" | "nothing" | "failed"

export interface WatchTimes {
  /** How long to let a burst of writes end. */
  readonly settleMs: number
  /** At most one sync in so long: each one costs a commit. */
  readonly apartMs: number
  /** How often everything is looked at, whatever the events said; as long as that finds nothing, less and less often. */
  readonly sweepMs: number
  readonly sweepMsMax: number
  /** How often it is looked what clients there are and, where the system gives no events, what their sessions are. */
  readonly pollMs: number
  /** How long a root that gives no events is not asked for them. */
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

/** A machine that wakes up, or a process that was held, has missed events: the queue of the system has an end. */
const SLEPT_MS = 10_000

/** A round that fails is tried again, after twice as long each time. */
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
      const sources = following.look()
      if (!following.isAnyDue(sources)) {
        await following.idle()
        continue
      }
      await pause(following.restMs(), signal)
      if (!signal.aborted) await following.round(sources)
    }
  } finally {
    signal.removeEventListener("abort", stop)
    following.close()
  }
}

type Sources = readonly ImportSource[]

interface WatchLoop {
  /** The sources that there are by now, followed; where no events come, with a look at what was touched lately. */
  look(): Sources
  isAnyDue(sources: Sources): boolean
  /** How long to let a burst of writes end, and the last round be. */
  restMs(): number
  round(sources: Sources): Promise<void>
  /** Until something happens, or it is time to look. */
  idle(): Promise<void>
  close(): void
}

function createWatchLoop(
  { sources: listed, sync, clock, log, times: given }: WatchContext,
  dirt: DirtyPaths,
): WatchLoop {
  const times = { ...TIMES, ...given }
  const events = createRootEvents({ log, onEvent: dirt.soil, retryMs: times.retryMs })
  const known = new Map<string, UnitIndex>()
  let [sweptAtMs, polledAtMs, notBeforeMs] = [Number.NEGATIVE_INFINITY, clock.monotonicMs(), 0]
  let [quietMs, failures] = [times.sweepMs, 0]

  const sweepInMs = () => sweptAtMs + quietMs - clock.monotonicMs()
  const isDue = (source: ImportSource) => dirt.isDirty(source.root) || !known.has(nameOf(source))

  function poll(blind: Sources): void {
    if (clock.monotonicMs() - polledAtMs < times.pollMs) return
    polledAtMs = clock.monotonicMs()
    for (const source of blind) {
      const changed = known.get(nameOf(source))?.look(clock.nowMs()) ?? []
      if (changed === "all") dirt.soil(source.root, undefined)
      else for (const place of changed) dirt.soil(source.root, place)
    }
  }

  function plan(nextMs: number, round: Round, isSweep: boolean): void {
    failures = round === "failed" ? failures + 1 : 0
    notBeforeMs = failures === 0 ? nextMs : clock.monotonicMs() + Math.min(AGAIN_MS * 2 ** failures, AGAIN_MS_MAX)
    if (isSweep) quietMs = round === "nothing" ? Math.min(2 * quietMs, times.sweepMsMax) : times.sweepMs
  }

  return {
    look: () => {
      const sources = listed()
      events.follow(sources, clock.monotonicMs())
      poll(sources.filter(({ root }) => events.isBlind(root)))
      return sources
    },
    isAnyDue: (sources) => sweepInMs() <= 0 || sources.some(isDue),
    restMs: () => Math.max(times.settleMs, notBeforeMs - clock.monotonicMs()),
    round: async (sources) => {
      const isSweep = sweepInMs() <= 0
      if (isSweep) sweptAtMs = clock.monotonicMs()
      const nextMs = clock.monotonicMs() + times.apartMs
      const [seen, plannedAtMs] = [dirt.generation(), clock.nowMs()]
      const due = isSweep ? sources : sources.filter(isDue)
      const looks = due.map((source) => lookAt(source, isSweep, known, dirt))
      const asked = looks.map(({ source }) => source).filter(({ only }) => only?.length !== 0)
      const beganMs = clock.monotonicMs()
      const round = asked.length === 0 ? "nothing" : await sync(asked)
      log.debug(`${wordsOf(isSweep, asked)}: ${round}, ${Math.round(clock.monotonicMs() - beganMs)} ms`)
      for (const look of looks) {
        const { source } = look
        // What became dirty while it was read stays dirty: its generation is younger.
        dirt.clean(source.root, seen)
        const units = knownFrom(look, plannedAtMs)
        if (units !== undefined) known.set(nameOf(source), units)
        if (round === "failed") dirt.soil(source.root, undefined)
      }
      plan(nextMs, round, isSweep)
    },
    idle: async () => {
      // A client that is installed, or comes back, tells nobody.
      const ms = Math.min(sweepInMs(), times.pollMs)
      const fromMs = clock.nowMs()
      await dirt.nextOr(ms)
      if (clock.nowMs() - fromMs > ms + SLEPT_MS) [sweptAtMs, quietMs] = [Number.NEGATIVE_INFINITY, times.sweepMs]
    },
    close: () => events.close(),
  }
}

function wordsOf(isSweep: boolean, asked: Sources): string {
  if (isSweep) return "a look at everything"
  return asked.map(({ adapter, only }) => `${only === undefined ? "all" : only.length} of ${adapter.id}`).join(", ")
}

/** Two adapters may be pointed at one directory. */
function nameOf({ adapter, root }: ImportSource): string {
  return `${adapter.id}\n${root}`
}

/** A root that was away while it was planned may be back as it was: nothing in it tells that it was not looked at. */
function knownFrom({ source, isThere, met }: Look, plannedAtMs: number): UnitIndex | undefined {
  if (met === undefined) return undefined
  const { root } = source
  if (isThere && existsSync(root)) return createUnitIndex(source, met, plannedAtMs)
  return { at: () => undefined, look: () => (existsSync(root) ? "all" : []) }
}

interface Look {
  readonly source: ImportSource
  /** Whether its root was there when the plan began. */
  readonly isThere: boolean
  /** Of a look at all of a root: the units that are there. */
  readonly met: SourceUnit[] | undefined
}

function lookAt(source: ImportSource, isSweep: boolean, known: ReadonlyMap<string, UnitIndex>, dirt: DirtyPaths): Look {
  const places = isSweep ? undefined : dirt.placesOf(source.root)
  const only = places === undefined ? undefined : known.get(nameOf(source))?.at(places)
  const isThere = existsSync(source.root)
  if (only !== undefined) return { source: { ...source, only }, met: undefined, isThere }
  const met: SourceUnit[] = []
  return { source: { ...source, onUnit: (unit) => met.push(unit) }, met, isThere }
}

// --- What is dirty -----------------------------------------------------------------------------------------------------

interface DirtyPaths {
  /** Without a place: anything in the root may have changed. */
  soil(root: string, place: string | undefined): void
  clean(root: string, seen: number): void
  isDirty(root: string): boolean
  /** Nothing where all of the root has to be looked at. */
  placesOf(root: string): readonly string[] | undefined
  generation(): number
  wake(): void
  /** Waits for something to happen, at most so long. */
  nextOr(ms: number): Promise<void>
}

const ANYWHERE = ""
/** So many are looked at faster by looking at everything. */
const PLACES_MAX = 256

/** Each event makes its place younger than any read that began before it. */
function createDirtyPaths(): DirtyPaths {
  const dirtyAt = new Map<string, Map<string, number>>()
  let generation = 0
  let wakeUp: (() => void) | undefined
  /** Somebody called while nobody was waiting, as an abort does during a sync: the next wait is over at once. */
  let isCalled = false
  const wake = () => {
    isCalled = true
    wakeUp?.()
    wakeUp = undefined
  }
  return {
    soil: (root, place) => {
      const places = dirtyAt.get(root) ?? new Map<string, number>()
      places.set(places.size < PLACES_MAX ? (place ?? ANYWHERE) : ANYWHERE, ++generation)
      dirtyAt.set(root, places)
      wake()
    },
    clean: (root, seen) => {
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
