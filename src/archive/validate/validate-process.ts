/**
 * The process that validates an export file within limits: its main thread watches how much memory the validating thread
 * makes it use, and the kernel how much processor time; either ends both. `validate-entries.ts` is the side that asks.
 */
import { assert } from "../../model/errors.ts"
import { answerQuestions, type Exit, limitCpuFromNow, limitMemory } from "../../platform/process/resource-limits.ts"
import { type AnsweringThread, startAnswering, threadUrl } from "../../platform/threads.ts"
import type { Answered, Asked } from "./validate-worker.ts"

export type Question = { readonly ask: "open"; readonly memoryBytes: number } | (Asked & Budget)
export type Reply = Answered

/** Of processor time, for the answer to one question. */
interface Budget {
  readonly cpuSeconds: number
}

export function serveValidation(exit: Exit): void {
  let thread: AnsweringThread<Asked, Answered> | undefined
  answerQuestions(async (question: Question): Promise<Reply> => {
    if (question.ask === "open") {
      const url = threadUrl("src/archive/validate/validate-worker.ts")
      thread = await startAnswering<Asked, Answered>(url, "validates an export file")
      limitMemory(question.memoryBytes, exit)
      return { said: "ready" }
    }
    assert(thread !== undefined, "a thread validates the export file")
    limitCpuFromNow(question.cpuSeconds)
    return await thread.ask(question, question.ask === "entry" ? [question.content.buffer] : [])
  }, exit)
}
