/**
 * Threads: the modules that run in one of their own, and where they lie. Each is an entry of the executable beside the
 * program itself, because nothing that is imported leads there.
 */

import { PondError } from "../model/errors.ts"

/** From the root of the repository. */
export const THREAD_ENTRIES = [
  "src/sync/read/parse-worker.ts",
  "src/archive/validate/validate-worker.ts",
  "src/sessions/words/write/shard-worker.ts",
] as const

/** Whether this is the executable, whose modules lie where no disk is. */
export function isExecutable(): boolean {
  return Bun.main.includes("$bunfs") || Bun.main.includes("~BUN")
}

/** In the executable this file is in a chunk at its root, whatever folder it came from. */
export function threadUrl(entry: (typeof THREAD_ENTRIES)[number]): string {
  return new URL(isExecutable() ? `./${entry}` : `../../${entry}`, import.meta.url).href
}

/** A thread that answers each question once, in the order in which they were asked. */
export interface AnsweringThread<Question, Answer> {
  /** `moved` belongs to the thread from here on. Throws where the thread says that it failed, or ends. */
  ask(question: Question, moved?: readonly ArrayBufferLike[]): Promise<Answer>
  close(): void
}

export type ThreadFailure = { readonly said: "failed"; readonly reason: string }

/** Nothing where no thread starts: its first word is that it is ready. `does` says what it is for. */
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
  // One that is ended from outside, for want of memory say, tells of no error.
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
