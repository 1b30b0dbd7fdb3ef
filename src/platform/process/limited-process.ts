/**
 * A second process of pond that does one kind of work for this one, within limits: what others wrote (a query, an export
 * file) may ask for any memory and any time, and only a process can be bounded in both by the kernel, and be killed in the
 * middle of native code. `resource-limits.ts` is the other side.
 */
import { processEnvironment } from "../host/environment.ts"
import { isExecutable, mainPath } from "../threads.ts"
import { EXIT_OUT_OF_MEMORY, LIMITED_TASK, type LimitedTask, type Reply } from "./limited-task.ts"

export interface LimitedProcess<Question, Answer> {
  /** Answers come in the order of the questions. Throws `ProcessEnded` where the process is gone before the answer. */
  ask(question: Question): Promise<Answer>
  /** Kills it, and resolves when it is gone. Safe to call twice. */
  kill(): Promise<void>
}

/** Why a process ended before it had answered. */
export class ProcessEnded extends Error {
  override readonly name = "ProcessEnded"
  readonly limit: "memory" | "time" | undefined

  constructor(limit: "memory" | "time" | undefined, how: string) {
    super(`The process ended: ${how}`)
    this.limit = limit
  }
}

/**
 * No credential of the user is among what the process gets, and nothing that changes how the runtime starts. Two arenas of
 * the C library are enough for two threads; each reserves 64 MB of addresses, which count.
 */
function environmentOfProcess(): Record<string, string> {
  const own = processEnvironment()
  const passed = ["HOME", "XDG_CACHE_HOME", "LD_LIBRARY_PATH", "TMPDIR"].flatMap((name) => {
    const value = own[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(passed), MALLOC_ARENA_MAX: "2", DO_NOT_TRACK: "1", BUN_ENABLE_CRASH_REPORTING: "0" }
}

export function startLimitedProcess<Question, Answer>(task: LimitedTask): LimitedProcess<Question, Answer> {
  const waiting: PromiseWithResolvers<unknown>[] = []
  let ended: ProcessEnded | undefined
  const program = isExecutable() ? [process.execPath] : [process.execPath, mainPath()]
  const child = Bun.spawn([...program, LIMITED_TASK, task], {
    env: environmentOfProcess(),
    // What lies in the directory of the caller is a stranger's.
    cwd: "/",
    stdio: ["ignore", "ignore", "ignore"],
    serialization: "advanced",
    ipc: (reply: Reply) => {
      const asked = waiting.shift()
      if ("failed" in reply) asked?.reject(new Error(reply.failed))
      else asked?.resolve(reply.value)
    },
    onExit: (_, exitCode, signal) => {
      ended = new ProcessEnded(limitOf(exitCode, signal), `exit code ${exitCode}, signal ${signal}`)
      for (const asked of waiting.splice(0)) asked.reject(ended)
    },
  })
  return {
    ask: async (question) => {
      if (ended !== undefined) throw ended
      const asked = Promise.withResolvers<unknown>()
      waiting.push(asked)
      child.send(question)
      return (await asked.promise) as Answer
    },
    kill: async () => {
      child.kill("SIGKILL")
      await child.exited
    },
  }
}

/** The process was stopped by a signal, with pond or alone: its input is not at fault. */
const STOPS: readonly (number | NodeJS.Signals)[] = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"]

/** Native code that is refused memory aborts or faults, in more ways than have names; the kernel has one for time. */
function limitOf(exitCode: number | null, signal: number | NodeJS.Signals | null): ProcessEnded["limit"] {
  if (signal !== null && STOPS.includes(signal)) return undefined
  if (signal === "SIGXCPU" || signal === CPU_SIGNAL || exitCode === 128 + CPU_SIGNAL) return "time"
  return signal !== null || exitCode === EXIT_OUT_OF_MEMORY || (exitCode ?? 0) > 128 ? "memory" : undefined
}

/** The same number on Linux and macOS. */
const CPU_SIGNAL = 24
