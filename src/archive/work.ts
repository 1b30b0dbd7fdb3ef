/** What long work over archives and stores is given, and how it says where it is. */
import { PondError } from "../model/errors.ts"
import { giveBackAllMemory, giveBackMemory } from "../platform/memory.ts"

export interface Work {
  readonly signal: AbortSignal
  /** A stage begins: so many rows are to be done, where that is known. */
  readonly onStage: (name: string, rows: number | undefined) => void
  /** So many rows of the stage are done. */
  readonly onRows: (rows: number) => void
}

/** Asked between batches: what was done until then stays as it is. */
export function stopIfAsked({ signal }: Work, soFar: string): void {
  if (signal.aborted) throw new PondError("interrupted", soFar)
}

/** So much may be made and dropped before it is cleared away: what is given back has to be asked for again. */
const BREATH_BYTES = 24 * 1024 * 1024

/**
 * What moves through leaves garbage that the collector is in no hurry for, because the machine has room: a store of any
 * size would leave the process as large as all of it. Called with about how many bytes were made and dropped.
 */
export function createBreather(): (bytes: number) => void {
  let dropped = 0
  return (bytes) => {
    dropped += bytes
    if (dropped < BREATH_BYTES) return
    dropped = 0
    giveBackMemory()
  }
}

/**
 * Between two stages. What the first has left, its sets of keys and the buffers of its threads among it, would stand
 * beside what the second needs: 555 MiB at the beginning of the indexes after an import, and 435 MiB so.
 */
export function letGo(): void {
  giveBackAllMemory()
}
