/**
 * How a run ends early. The first signal asks: `signal` aborts, and work stops at its next safe point. Work that does
 * not stop in time is left behind. The second signal waits for nothing.
 */
import type { ListenForEnd } from "../../platform/process/signals.ts"

const PATIENCE_MS = 5000

export interface Cleanups {
  readonly add: (cleanup: () => void | Promise<void>) => void
  /** Runs what was added, last first, each once; all of them, even when one fails. The first failure is thrown then. */
  readonly run: () => Promise<void>
}

export function createCleanups(): Cleanups {
  const cleanups: (() => void | Promise<void>)[] = []
  return {
    add: (cleanup) => {
      cleanups.push(cleanup)
    },
    run: async () => {
      const failures: unknown[] = []
      for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop()) {
        try {
          await cleanup()
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

export type Ended<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "failed"; readonly reason: unknown }
  /** The exit code is the one that the shell expects after the signal. */
  | { readonly kind: "interrupted"; readonly exitCode: number }

/** Signals that come later are that program's to answer, until they are taken back. */
export type HandOver = (to: { readonly kill: () => void }) => () => void

const CTRL_C = 130

export async function runInterruptible<T>(
  listen: ListenForEnd,
  work: (signal: AbortSignal, handOver: HandOver) => Promise<T>,
): Promise<{ readonly ended: Ended<T>; readonly signalCode: number | undefined }> {
  const controller = new AbortController()
  const abandoned = Promise.withResolvers<Ended<T>>()
  let signalCode: number | undefined
  let successor: Parameters<HandOver>[0] | undefined
  let patience: ReturnType<typeof setTimeout> | undefined
  const abandon = () => abandoned.resolve({ kind: "interrupted", exitCode: signalCode ?? 0 })
  const stopListening = listen((exitCode) => {
    if (successor !== undefined) {
      // Ctrl-C on a terminal reaches everyone in front of it by itself.
      if (exitCode !== CTRL_C) successor.kill()
      return
    }
    if (signalCode !== undefined) abandon()
    signalCode ??= exitCode
    patience ??= setTimeout(abandon, PATIENCE_MS)
    controller.abort()
  })
  const handOver: HandOver = (to) => {
    successor = to
    return () => {
      successor = undefined
    }
  }
  const finished = work(controller.signal, handOver).then(
    (value): Ended<T> => ({ kind: "done", value }),
    (reason: unknown): Ended<T> => ({ kind: "failed", reason }),
  )
  const ended = await Promise.race([finished, abandoned.promise])
  clearTimeout(patience)
  stopListening()
  return { ended, signalCode }
}
