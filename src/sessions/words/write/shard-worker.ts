/** The entry of the thread that makes parts of the index of words: messages come in, blocks go out. It opens no store. */
import { toPondError } from "../../../model/errors.ts"
import type { ThreadFailure } from "../../../platform/threads.ts"
import type { MessageBatch } from "./index-builder.ts"
import { createPartMaker, type MadePart } from "./shard.ts"

export type PartOrder = { readonly ask: "add"; readonly batch: MessageBatch } | { readonly ask: "finish" }

export type PartAnswer =
  /** The first word: the thread has started. */
  | { readonly said: "ready" }
  /** A batch is in the part, and there is room for another. */
  | { readonly said: "added" }
  | ({ readonly said: "made" } & MadePart)
  | ThreadFailure

declare const self: {
  onmessage: ((event: { readonly data: PartOrder }) => void) | null
  postMessage(answer: PartAnswer): void
}

let maker = createPartMaker()

function answered(order: PartOrder): PartAnswer {
  if (order.ask === "add") {
    maker.add(order.batch)
    return { said: "added" }
  }
  const part = maker.finish()
  maker = createPartMaker()
  return { said: "made", ...part }
}

self.onmessage = ({ data }) => {
  try {
    self.postMessage(answered(data))
  } catch (error) {
    self.postMessage({ said: "failed", reason: toPondError(error).message })
  }
  // What two parts leave behind is 180 MB, one 95, and the other side needs room as well.
  if (data.ask === "finish") Bun.gc(true)
}
self.postMessage({ said: "ready" })
