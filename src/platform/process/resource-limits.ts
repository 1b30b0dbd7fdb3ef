/**
 * What a process with limits does about itself: it asks the kernel to bound it, watches its own memory, answers the
 * questions of the process that started it, and ends with that.
 */
import { closeSync, openSync, readSync } from "node:fs"
import { lazy } from "../lazy.ts"
import { libcPath } from "../native/libc.ts"
import { EXIT_OUT_OF_MEMORY, type Reply } from "./limited-task.ts"

const EXIT_NOT_STARTED_BY_POND = 2

const RLIMIT_CPU = 0
const RLIMIT_CORE = 4
/** On Linux. macOS takes the limit and does not apply it. */
const RLIMIT_AS = 9

/** Of address space beyond what may be used: reserved by allocators and never touched. */
const RESERVED_BYTES = 64 * 1024 * 1024
const WATCH_EVERY_MS = 10

/** Ends the process: `main.ts` alone does. */
export type Exit = (code: number) => void

/** Answers one request after the other, until the parent process is gone. */
export function answerQuestions(answer: (question: never) => Promise<unknown>, exit: Exit): void {
  const send = process.send?.bind(process)
  if (send === undefined) {
    exit(EXIT_NOT_STARTED_BY_POND)
    return
  }
  process.on("disconnect", () => exit(0))
  // Ctrl-C reaches every process of a terminal. Who asked decides what it means, and ends this one.
  process.on("SIGINT", () => undefined)
  let last: Promise<void> = Promise.resolve()
  process.on("message", (question) => {
    last = last.then(async () => {
      const reply: Reply = await answer(question as never).then(
        (value) => ({ value }),
        (error: unknown) => ({ failed: error instanceof Error ? error.message : String(error) }),
      )
      send(reply)
    })
  })
}

/** Soft and hard: nothing in the process can take it back. */
export function limitCpu(seconds: number): void {
  limit(RLIMIT_CPU, seconds)
  // A core file would hold what the process was reading.
  limit(RLIMIT_CORE, 0)
}

/**
 * So much more than the process has now. The kernel refuses address space, which ends most excess with an error of the
 * allocator; what is used is watched besides, for systems whose kernel does not.
 */
export function limitMemory(bytes: number, exit: Exit): void {
  if (process.platform === "linux") limit(RLIMIT_AS, addressSpaceBytes() + bytes + RESERVED_BYTES)
  const most = process.memoryUsage.rss() + bytes
  setInterval(() => {
    if (process.memoryUsage.rss() > most) exit(EXIT_OUT_OF_MEMORY)
  }, WATCH_EVERY_MS)
}

/**
 * So many seconds of processor time from now on, until it is called again: the kernel ends the process beyond them. Unlike a
 * clock this does not end work that waits for other programs: of 2,000 export files four were refused because the machine stood still.
 */
export function limitCpuFromNow(seconds: number): void {
  const { user, system } = process.cpuUsage()
  limit(RLIMIT_CPU, Math.ceil((user + system) / 1e6 + seconds), RLIM_INFINITY)
}

/** Of Linux and of macOS, where the highest bit is another sign. */
const RLIM_INFINITY = process.platform === "darwin" ? 2n ** 63n - 1n : 2n ** 64n - 1n

function limit(resource: number, most: number, hard = BigInt(most)): void {
  setrlimit()?.(resource, new BigUint64Array([BigInt(most), hard]))
}

const setrlimit = lazy(() => {
  const libc = libcPath()
  if (libc === undefined) return undefined
  const { dlopen, FFIType } = require("bun:ffi") as typeof import("bun:ffi")
  return dlopen(libc, { setrlimit: { args: [FFIType.int, FFIType.ptr], returns: FFIType.int } }).symbols.setrlimit
})

const PAGE_BYTES = 4096

/** The first number of statm, in pages; a kernel with larger pages gets a laxer limit, never a tighter one. */
function addressSpaceBytes(): number {
  const file = openSync("/proc/self/statm", "r")
  try {
    const text = Buffer.alloc(64)
    return Number.parseInt(text.toString("latin1", 0, readSync(file, text)), 10) * PAGE_BYTES
  } finally {
    closeSync(file)
  }
}
