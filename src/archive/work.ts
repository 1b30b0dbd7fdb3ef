/** What long work over export files and stores is given: how to report progress, when to stop, when to give memory back. */
import { PondError } from "../model/errors.ts"
import { giveBackAllMemory, giveBackMemory } from "../platform/memory.ts"

export interface Work {
  readonly signal: AbortSignal
  /** A stage begins, of so many rows if that is known. */
  readonly onStage: (name: string, rows: number | undefined) => void
  /** How many rows of the stage are done. */
  readonly onRows: (rows: number) => void
}

/** Called between batches. What was done so far stays. */
export function stopIfAsked({ signal }: Work, soFar: string): void {
  if (signal.aborted) throw new PondError("interrupted", soFar)
}

/** Garbage collected before memory is released. Releasing it more often costs time to ask for it again. */
const RELEASE_BYTES = 24 * 1024 * 1024

/**
 * Releases memory as rows pass through. The collector is in no hurry while the machine has room, so that without this the
 * process grows to the size of the store. Call it with about how many bytes were made and dropped.
 */
export function createMemoryRelease(): (bytes: number) => void {
  let dropped = 0
  return (bytes) => {
    dropped += bytes
    if (dropped < RELEASE_BYTES) return
    dropped = 0
    giveBackMemory()
  }
}

/**
 * Releases all memory between two stages. Otherwise what the first one leaves stands beside what the second needs: 555 MiB
 * at the start of indexing after an import, 435 MiB with this.
 */
export function releaseMemory(): void {
  giveBackAllMemory()
}
