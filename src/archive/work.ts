/** What long work over export files and stores is given: how to report progress, and when to stop. */
import { PondError } from "../model/errors.ts"

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
