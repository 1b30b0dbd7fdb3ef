/**
 * Builds the shards of new messages one after the other. Many are built in a worker thread, so that one core extracts
 * terms while the other reads messages and writes finished shards. Few, or where no thread starts, are built in this
 * one.
 */
import { startAnswering, threadUrl } from "../../../platform/threads.ts"
import { buffersOf, columnBytes } from "../../../substrate/columns/column-batch.ts"
import type { WordTables } from "../segment/segments.ts"
import type { MessageBatch } from "./index-builder.ts"
import { readShards, readSortedBatch, type ShardStep } from "./message-batches.ts"
import { type BuiltShard, createShardBuilder } from "./shard.ts"
import type { ShardAnswer, ShardOrder } from "./shard-worker.ts"

export interface PlacedShard extends BuiltShard {
  readonly from: number
  /** One past the row number of its last message. */
  readonly to: number
}

export interface ShardsRequest {
  readonly from: number
  /** Messages per shard. */
  readonly rows: number
  /** A thread is started for more messages than this. */
  readonly besideMin: number
}

/** Shards from a row number on. Within one, rows may come in any order. */
export async function* buildShards({ messages }: WordTables, request: ShardsRequest): AsyncGenerator<PlacedShard> {
  const { from, rows, besideMin } = request
  const reach = await messages.nextRowNumber()
  const workshop = (reach - from > besideMin ? await buildInThread() : undefined) ?? buildHere()
  let before: Promise<PlacedShard> | undefined
  try {
    for await (const step of readSteps(messages, { from, rows, reach })) {
      if (step.batch !== undefined) {
        await workshop.add(step.batch)
        continue
      }
      const made = workshop
        .finish()
        .then((part) => ({ ...part, from: step.from, to: step.to ?? step.from + part.documents.size }))
      made.catch(() => undefined) // whoever asks for it is told
      // While one is written the next is made.
      if (before !== undefined) yield* skipEmpty(await before)
      before = made
    }
    if (before !== undefined) yield* skipEmpty(await before)
  } finally {
    workshop.close()
  }
}

type Step = ShardStep | { readonly batch?: undefined; readonly from: number; readonly to: undefined }

/** Rows that are not in the order of their numbers are read shard by shard. */
async function* readSteps(
  messages: WordTables["messages"],
  { from, rows, reach }: Omit<ShardsRequest, "besideMin"> & { readonly reach: number },
): AsyncGenerator<Step> {
  let start = from
  for await (const step of readShards(messages, from, rows)) {
    yield step
    if (step.batch === undefined) start = step.to
  }
  for (; start < reach; start += rows) {
    const isLast = start + rows >= reach
    const bounds = { from: start, ...(isLast ? {} : { to: start + rows }) }
    for await (const batch of readSortedBatch(messages, bounds)) yield { batch }
    yield { from: start, to: isLast ? undefined : start + rows }
  }
}

function* skipEmpty(part: PlacedShard): Generator<PlacedShard> {
  if (part.documents.size > 0) yield part
}

interface Builder {
  /** Waits until there is room for another. */
  add(batch: MessageBatch): Promise<void>
  finish(): Promise<BuiltShard>
  close(): void
}

function buildHere(): Builder {
  let maker = createShardBuilder()
  return {
    add: async (batch) => maker.add(batch),
    finish: async () => {
      const part = maker.finish()
      maker = createShardBuilder()
      return part
    },
    close: () => undefined,
  }
}

// --- The thread --------------------------------------------------------------------------------------------------------

/** Backpressure: at most this many bytes of messages wait for the thread. */
const AHEAD_BYTES = 12 * 1024 * 1024

async function buildInThread(): Promise<Builder | undefined> {
  const url = threadUrl("src/sessions/words/write/shard-worker.ts")
  const thread = await startAnswering<ShardOrder, ShardAnswer>(url, "builds the word index")
  if (thread === undefined) return undefined
  let aheadBytes = 0
  const added: Promise<unknown>[] = []
  return {
    add: async (batch) => {
      const bytes = columnBytes(batch.columns)
      aheadBytes += bytes
      const own = thread.ask({ ask: "add", batch }, buffersOf([batch.columns])).then(() => {
        aheadBytes -= bytes
      })
      own.catch(() => undefined) // the error is thrown to whoever awaits it
      added.push(own)
      while (aheadBytes > AHEAD_BYTES || added.length > 1) await added.shift()
    },
    finish: async () => {
      // Sent at once: batches added from here on belong to the next shard.
      const made = thread.ask({ ask: "finish" })
      await Promise.all([made, ...added.splice(0)])
      const { documents, columns, blocks } = (await made) as ShardAnswer & BuiltShard
      return { documents, columns, blocks }
    },
    close: thread.close,
  }
}
