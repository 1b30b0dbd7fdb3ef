/**
 * Follow the sources: a change is stored within two seconds. Events only say that something happened somewhere under a
 * root; what happened is found out by planning that root again, so that no order or loss of events can mislead. A
 * generation clock notices what changes while it is being read, and a sweep finds what no event told.
 */
import { existsSync, type FSWatcher, statSync, watch } from "node:fs"
import { join } from "node:path"
import type { Clock } from "../platform/clock.ts"
import type { Log } from "../platform/log.ts"
import type { ImportSource } from "./import.ts"

export interface WatchContext {
  /** Asked again at every sweep: a client that is installed later is followed from then on. */
  readonly sources: () => readonly ImportSource[]
  /** Brings the sources into the store. A failure that the next round can mend is reported and outlived. */
  readonly sync: (sources: readonly ImportSource[]) => Promise<void>
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly log: Log
  readonly times?: Partial<WatchTimes>
}

export interface WatchTimes {
  /** How long to let a burst of writes end. */
  readonly settleMs: number
  /** At most one sync in so long: each one costs a commit. */
  readonly apartMs: number
  /** How often everything is looked at, whatever the events said. */
  readonly sweepMs: number
  /** How often, where the system gives no events. */
  readonly pollMs: number
}

const TIMES: WatchTimes = { settleMs: 150, apartMs: 1_000, sweepMs: 30_000, pollMs: 1_500 }

/** Resolves when the signal is aborted. */
export async function watchSources(context: WatchContext): Promise<void> {
  const { clock, signal } = context
  const times = { ...TIMES, ...context.times }
  const dirt = createDirt()
  const watchers = new Map<string, FSWatcher>()
  const blind = new Set<string>()
  const renewed = new Set<string>()
  const stop = () => dirt.wake()
  signal.addEventListener("abort", stop)
  let sweptAtMs = Number.NEGATIVE_INFINITY
  let syncedAtMs = Number.NEGATIVE_INFINITY
  try {
    while (!signal.aborted) {
      const sources = context.sources()
      follow(sources, { watchers, blind, renewed, dirt, context })
      const everyMs = blind.size > 0 ? times.pollMs : times.sweepMs
      const isSweep = clock.monotonicMs() - sweptAtMs >= everyMs
      const due = isSweep ? sources : sources.filter(({ root }) => dirt.isDirty(root))
      if (due.length > 0) {
        await Bun.sleep(Math.max(times.settleMs, syncedAtMs + times.apartMs - clock.monotonicMs()))
        if (signal.aborted) return
        const seen = dirt.generation()
        if (isSweep) sweptAtMs = clock.monotonicMs()
        syncedAtMs = clock.monotonicMs()
        await context.sync(due)
        // What became dirty while it was read stays dirty: its generation is younger.
        for (const { root } of due) dirt.clean(root, seen)
      }
      await dirt.nextOr(sweptAtMs + everyMs - clock.monotonicMs())
    }
  } finally {
    signal.removeEventListener("abort", stop)
    for (const watcher of watchers.values()) watcher.close()
  }
}

interface Following {
  readonly watchers: Map<string, FSWatcher>
  /** Roots that give no events. */
  readonly blind: Set<string>
  /** Roots in which a directory came or moved. */
  readonly renewed: Set<string>
  readonly dirt: Dirt
  readonly context: WatchContext
}

/** A watcher that broke, or whose root went away, is made again here at the next round; until it can be, its root is polled. */
function follow(sources: readonly ImportSource[], { watchers, blind, renewed, dirt, context }: Following): void {
  for (const { root } of sources) {
    // A directory that was just renamed is sometimes not followed to its new name (1 of 30, measured): begin anew.
    if (renewed.delete(root)) drop(root)
    if (watchers.has(root)) continue
    try {
      const watcher = watch(root, { recursive: true }, (event, name) => {
        dirt.soil(root)
        if (event === "rename" && isDirectory(join(root, name ?? ""))) renewed.add(root)
        if (!existsSync(root)) drop(root)
      })
      watcher.on("error", () => drop(root))
      watchers.set(root, watcher)
      if (blind.delete(root)) dirt.soil(root)
    } catch (error) {
      if (!blind.has(root))
        context.log.info(`${root} gives no events (${codeOf(error)}): it is looked at every few seconds.`)
      blind.add(root)
    }
  }

  function drop(root: string): void {
    watchers.get(root)?.close()
    watchers.delete(root)
    blind.add(root)
    dirt.soil(root)
  }
}

interface Dirt {
  soil(root: string): void
  clean(root: string, seen: number): void
  isDirty(root: string): boolean
  generation(): number
  wake(): void
  /** Waits for something to happen, at most so long. */
  nextOr(ms: number): Promise<void>
}

/** Each event makes a root younger than any read that began before it. */
function createDirt(): Dirt {
  const dirtyAt = new Map<string, number>()
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
    soil: (root) => {
      dirtyAt.set(root, ++generation)
      wake()
    },
    clean: (root, seen) => {
      if ((dirtyAt.get(root) ?? 0) <= seen) dirtyAt.delete(root)
    },
    isDirty: (root) => dirtyAt.has(root),
    generation: () => generation,
    wake,
    nextOr: async (ms) => {
      if (dirtyAt.size === 0 && !isCalled && ms > 0) {
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

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown"
}
