/**
 * The program that a user reads long text with: `PAGER`, or `less` where there is one. It gets the text in
 * pieces, each when the pager accepts it (backpressure), so that nothing is rendered behind the page where a reader quits.
 */
import type { Environment } from "../host/environment.ts"
import { isSystemError } from "../system-error.ts"

export interface Pager {
  /** Whether anyone still reads. */
  write(text: string): Promise<boolean>
  end(): Promise<void>
}

/** Quits where all fits on a screen, keeps colours, leaves the text on the screen: what git asks of it. */
const LESS = "FRX"

/** Nothing where the user wants none, or there is none. */
export function openPager(environment: Environment): Pager | undefined {
  const wanted = environment["PAGER"] ?? (Bun.which("less") === null ? "" : "less")
  if (wanted === "" || wanted === "cat") return undefined
  const child = Bun.spawn(["sh", "-c", wanted], {
    stdin: "pipe",
    stdout: "inherit",
    stderr: "inherit",
    env: { LESS, ...environment },
  })
  // Ctrl-C belongs to the pager: it interrupts the pager's own work, not pond.
  const stay = () => undefined
  process.on("SIGINT", stay)
  let isRead = true
  void child.exited.then(() => {
    isRead = false
  })
  return {
    write: async (text) => {
      if (!isRead) return false
      try {
        child.stdin.write(text)
        await Promise.race([child.stdin.flush(), child.exited])
      } catch (error) {
        if (!isSystemError(error, "EPIPE")) throw error
        isRead = false
      }
      return isRead
    },
    end: async () => {
      try {
        await child.stdin.end()
      } catch (error) {
        if (!isSystemError(error, "EPIPE")) throw error
      }
      await child.exited
      process.off("SIGINT", stay)
    },
  }
}
