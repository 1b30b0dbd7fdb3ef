/**
 * Threads: the modules that run in one of their own, and where they lie. Each is an entry of the executable beside the
 * program itself, because nothing that is imported leads there.
 */

/** From the root of the repository. */
export const THREAD_ENTRIES = [
  "src/sync/parse-worker.ts",
  "src/archive/judge-worker.ts",
  "src/sessions/words/part-worker.ts",
] as const

/** Whether this is the executable, whose modules lie where no disk is. */
export function isExecutable(): boolean {
  return Bun.main.includes("$bunfs") || Bun.main.includes("~BUN")
}

/** In the executable this file is in a chunk at its root, whatever folder it came from. */
export function threadUrl(entry: (typeof THREAD_ENTRIES)[number]): string {
  return new URL(isExecutable() ? `./${entry}` : `../../${entry}`, import.meta.url).href
}
