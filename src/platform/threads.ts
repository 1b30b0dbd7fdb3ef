/**
 * Worker threads: which modules run in one, how they are started and how they are asked. Each module is an entry point
 * of the executable, because no import leads to it.
 */
import { fileURLToPath } from "node:url"
import { PondError } from "../model/errors.ts"

/** From the root of the repository. */
export const THREAD_ENTRIES = [
  "src/sync/read/parse-worker.ts",
  "src/archive/validate/validate-worker.ts",
  "src/sessions/words/write/shard-worker.ts",
] as const

/** Whether this is the compiled executable, whose modules are in a virtual file system. */
export function isExecutable(): boolean {
  return Bun.main.includes("$bunfs") || Bun.main.includes("~BUN")
}

/** In the executable this file ends up in a chunk at the root, whatever folder it came from. */
export function threadUrl(entry: (typeof THREAD_ENTRIES)[number]): string {
  return new URL(isExecutable() ? `./${entry}` : `../../${entry}`, import.meta.url).href
}

/** What starts pond from its sources, or from a bundle of them. The executable is started by its own path. */
export function mainPath(): string {
  return fileURLToPath(new URL("../../src/main.ts", import.meta.url))
}

/** A request/response channel to a worker thread: every question gets one answer, in the order of asking. */
export interface AnsweringThread<Question, Answer> {
  /** `moved` is transferred to the thread. Throws when the thread reports a failure, or ends. */
  ask(question: Question, moved?: readonly ArrayBufferLike[]): Promise<Answer>
  close(): void
}

export type ThreadFailure = { readonly said: "failed"; readonly reason: string }

/**
 * Starts a thread and waits for its first message, "ready". Undefined when no thread can be started: the caller then does
 * the work itself. `does` names the work in error messages.
 */
export async function startAnswering<Question, Answer extends { readonly said: string }>(
  url: string,
  does: string,
): Promise<AnsweringThread<Question, Answer> | undefined> {
  type Said = Answer | ThreadFailure
  const worker = new Worker(url)
  const waiting: PromiseWithResolvers<Said>[] = [Promise.withResolvers()]
  const [started] = waiting
  let ended: ThreadFailure | undefined
  const end = (reason: string) => {
    ended ??= { said: "failed", reason }
    for (const each of waiting.splice(0)) each.resolve(ended)
  }
  worker.onmessage = ({ data }: MessageEvent<Said>) => waiting.shift()?.resolve(data)
  worker.onerror = ({ message }) => end(message)
  // A thread that is ended from outside, for lack of memory for example, reports no error.
  worker.addEventListener("close", () => end("it ended"))
  if ((await started?.promise)?.said !== "ready") {
    worker.terminate()
    return undefined
  }
  return {
    ask: async (question, moved = []) => {
      const answer = Promise.withResolvers<Said>()
      waiting.push(answer)
      if (ended === undefined) worker.postMessage(question, moved as ArrayBuffer[])
      else end(ended.reason)
      const answered = await answer.promise
      if (isFailure(answered)) throw new PondError("internal", `The thread that ${does} has failed: ${answered.reason}`)
      return answered
    },
    close: () => worker.terminate(),
  }
}

function isFailure(answered: { readonly said: string }): answered is ThreadFailure {
  return answered.said === "failed"
}
