/** What long work over archives and stores is given, and how it says where it is. */
import { PondError } from "../model/errors.ts"

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
