/**
 * The reader lock of a local table: reads hold it shared while they last, so that a clean-up can tell whether an older
 * version is still needed. Counted within the process; between processes one lock file is shared.
 */
import type { FileLock } from "../../platform/files/file-lock.ts"

export interface Readers {
  enter(): Promise<void>
  leave(): void
  /** Whether there is no reader at this moment. Later readers begin at the newest version. */
  areNone(): boolean
}

/** A clean-up holds the lock for a moment only. A read that waited so long goes on: it is then younger than any clean-up. */
const WAIT_TURNS_MAX = 200

export function openReaders(openLock: () => FileLock | undefined, sleep: (ms: number) => Promise<void>): Readers {
  let shared: FileLock | undefined
  let active = 0
  let isHeld = false
  return {
    enter: async () => {
      active += 1
      shared ??= openLock()
      for (let turns = 0; !isHeld && turns < WAIT_TURNS_MAX; turns++) {
        isHeld = shared?.take("shared") ?? false
        if (!isHeld && shared !== undefined) await sleep(1)
        if (shared === undefined) return
      }
    },
    leave: () => {
      active -= 1
      if (active > 0 || !isHeld) return
      shared?.giveBack()
      isHeld = false
    },
    areNone: () => {
      const alone = openLock()
      if (alone === undefined || active > 0) return false
      const none = alone.take("alone")
      alone.close()
      return none
    },
  }
}
