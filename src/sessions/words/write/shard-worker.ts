/** Entry point of the worker thread that builds shards: message batches in, posting blocks out. It opens no store. */

import { toPondError } from "../../../model/errors.ts"
import { openLedger } from "../../../platform/memory.ts"
import type { ThreadFailure } from "../../../platform/threads.ts"
import type { MessageBatch } from "./index-builder.ts"
import { type BuiltShard, createShardBuilder } from "./shard.ts"

export type ShardOrder = { readonly ask: "add"; readonly batch: MessageBatch } | { readonly ask: "finish" }

export type ShardAnswer =
  /** Sent once, when the thread has started. */
  | { readonly said: "ready" }
  /** The batch is in the shard; there is room for another. */
  | { readonly said: "added" }
  | ({ readonly said: "made" } & BuiltShard)
  | ThreadFailure

declare const self: {
  onmessage: ((event: { readonly data: ShardOrder }) => void) | null
  postMessage(answer: ShardAnswer): void
}

let maker = createShardBuilder()
const memory = openLedger("builtShard")

function answer(order: ShardOrder): ShardAnswer {
  if (order.ask === "add") {
    maker.add(order.batch)
    return { said: "added" }
  }
  const part = maker.finish()
  maker = createShardBuilder()
  return { said: "made", ...part }
}

self.onmessage = ({ data }) => {
  try {
    self.postMessage(answer(data))
  } catch (error) {
    self.postMessage({ said: "failed", reason: toPondError(error).message })
  }
  if (data.ask === "finish") memory.made(0)
}
self.postMessage({ said: "ready" })
