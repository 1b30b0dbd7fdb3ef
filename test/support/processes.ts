/** What the kernel of Linux says of processes. Elsewhere nothing. */
import { readdirSync, readFileSync } from "node:fs"

/** A process that ends while it is looked at has no children. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    )
  } catch {
    return []
  }
}

const PAGE_BYTES = 4096

export function residentMb(pid: number): number {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES) / 1e6
  } catch {
    return 0
  }
}
