/** A thread for `state.test.ts`: opens each state in the same moment as the others, and says what was refused to it. */
import { silentLog } from "../../src/platform/host/log.ts"
import { openSyncState } from "../../src/sync/state/sync-state.ts"

export interface Meeting {
  readonly paths: readonly string[]
  readonly arrived: SharedArrayBuffer
  readonly threads: number
}

declare const self: {
  onmessage: ((event: { readonly data: Meeting }) => void) | null
  postMessage(refused: readonly string[]): void
}

self.onmessage = ({ data: { paths, arrived, threads } }) => {
  const counts = new Int32Array(arrived)
  const refused: string[] = []
  for (const [place, path] of paths.entries()) {
    let there = Atomics.add(counts, place, 1) + 1
    if (there === threads) Atomics.notify(counts, place)
    for (; there < threads; there = Atomics.load(counts, place)) Atomics.wait(counts, place, there)
    try {
      openSyncState({ path, log: silentLog, storeMark: () => "store" }).close()
    } catch (error) {
      refused.push(String(error))
    }
  }
  self.postMessage(refused)
}
