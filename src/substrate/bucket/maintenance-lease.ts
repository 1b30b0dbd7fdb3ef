/**
 * The lease of maintenance: one machine at a time compacts and indexes the tables of a store in a bucket. What several did
 * at once would be right too, because commits conflict, but most of it is thrown away. The lease is an object that is
 * created where none is, so that of two machines one has it, and it ends by itself: a machine that was killed keeps the
 * others away for minutes. A machine that meets an expired one removes it; two at once may both go on, which costs work.
 */
import { join } from "node:path"
import type { Clock } from "../../platform/host/clock.ts"
import { OWN_FOLDER } from "../local/local-table.ts"
import type { BucketFiles } from "./bucket-files.ts"

export interface MaintenanceLease {
  /** Does the work while no other machine maintains the store. */
  hold<Result>(work: () => Promise<Result>): Promise<Result | "busy">
}

/** Longer than the clocks of two machines differ. */
const LEASE_MS = 5 * 60_000
const RENEW_MS = LEASE_MS / 4

const LEASE = "maintenance.lease"

/** `holder` names the process that holds the lease; it is the same for all its tables. */
export function openMaintenanceLease(
  files: BucketFiles,
  root: string,
  { clock, holder }: { readonly clock: Clock; readonly holder: string },
): MaintenanceLease {
  const path = join(root, OWN_FOLDER, LEASE)
  const content = () => new TextEncoder().encode(`${JSON.stringify({ holder, until_ms: clock.nowMs() + LEASE_MS })}\n`)
  /** Tables are maintained one after the other, and a word index beside them. */
  let held = 0

  async function take(): Promise<boolean> {
    if (await files.create(path, content())) return true
    const found = await files.find(path)
    if (found !== undefined && untilMs(found, clock.nowMs()) > clock.nowMs()) return false
    await files.remove(path)
    return await files.create(path, content())
  }

  return {
    hold: async (work) => {
      if (held === 0 && !(await take())) return "busy"
      held += 1
      const renewing = setInterval(() => {
        files.write(path, content()).catch(() => undefined)
      }, RENEW_MS)
      try {
        return await work()
      } finally {
        clearInterval(renewing)
        held -= 1
        if (held === 0) await files.remove(path).catch(() => undefined)
      }
    },
  }
}

/** A lease that cannot be read is none, and one from the far future is that of a machine with a wrong clock. */
function untilMs(content: Uint8Array, nowMs: number): number {
  try {
    const { until_ms: until } = JSON.parse(new TextDecoder().decode(content)) as { readonly until_ms?: unknown }
    return typeof until === "number" && until <= nowMs + 2 * LEASE_MS ? until : 0
  } catch {
    return 0
  }
}
