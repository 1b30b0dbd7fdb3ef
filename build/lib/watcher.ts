/** A `pond watch` as a separate process, for storms: what it says is noted, and it may be given few watches or none. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { ROOT } from "../release/packages.ts"

export interface Watcher {
  readonly pid: number
  /** Grows while it speaks. */
  readonly said: readonly Said[]
  /** As Ctrl-C does: the exit code. */
  end(): Promise<number>
}

export interface Said {
  readonly atMs: number
  readonly line: string
}

/** In a separate user namespace a process may be given no watches at all, and nobody else is bereft of any. */
const withWatches = (watches: number) =>
  ["unshare", "-Ur", "sh", "-c", `echo ${watches} > /proc/sys/user/max_inotify_watches && "$@"`, "sh"] as const

const LOOKED = "a look at everything"

/** Resolves when what was there before is stored. */
export async function startWatcher(home: string, store: string, watches?: number): Promise<Watcher> {
  const command = pondCommand("watch", "--verbose", "--json", "--store", store)
  const child = Bun.spawn([...(watches === undefined ? [] : withWatches(watches)), ...command], {
    env: environmentOf(home),
    stdout: "ignore",
    stderr: "pipe",
  })
  const said: Said[] = []
  const { promise: looked, resolve, reject } = Promise.withResolvers<void>()
  void listen(child.stderr, (one) => {
    said.push(one)
    if (one.line.includes(LOOKED)) resolve()
  }).then(() => reject(new Error(`the watcher has ended: ${said.at(-1)?.line}`)))
  await looked
  const pid = watches === undefined ? child.pid : childOf(child.pid)
  return {
    pid,
    said,
    end: async () => {
      process.kill(pid, "SIGINT")
      return await child.exited
    },
  }
}

function pondCommand(...args: readonly string[]): string[] {
  return [process.execPath, join(ROOT, "src/main.ts"), ...args]
}

/** The exit code. */
export async function syncOnce(home: string, store: string): Promise<number> {
  const command = pondCommand("sync", "--only", "import", "--json", "--store", store)
  return await Bun.spawn(command, { env: environmentOf(home), stdout: "ignore", stderr: "ignore" }).exited
}

function environmentOf(home: string) {
  return { HOME: home, PATH: process.env["PATH"] ?? "" }
}

async function listen(stderr: ReadableStream<Uint8Array>, onSaid: (one: Said) => void): Promise<void> {
  for await (const bytes of stderr) {
    const atMs = performance.now()
    for (const line of Buffer.from(bytes).toString("utf8").trimEnd().split("\n")) onSaid({ atMs, line })
  }
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0])
}
