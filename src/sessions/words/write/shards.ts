/**
 * The parts of the newest messages, made one after the other: many of them in a thread of its own, so that one core makes
 * terms while the other reads the next messages and writes what was made. Where no thread starts, and for few messages,
 * it is done here.
 */
import { startAnswering, threadUrl } from "../../../platform/threads.ts"
import { buffersOf, columnBytes } from "../../../substrate/columns/column-batch.ts"
import type { WordTables } from "../segment/segments.ts"
import type { MessageBatch } from "./index-builder.ts"
import { messageParts, type PartStep, sortedBatches } from "./message-batches.ts"
import { createPartMaker, type MadePart } from "./shard.ts"
import type { PartAnswer, PartOrder } from "./shard-worker.ts"

export interface PlacedPart extends MadePart {
  readonly from: number
  /** The number behind its last message. */
  readonly to: number
}

export interface PartsRequest {
  readonly from: number
  /** How many messages go into a part. */
  readonly rows: number
  /** For more messages than that a thread is started. */
  readonly besideMin: number
}

/** From a row number on. Rows may come in any order within one. */
export async function* madeParts({ messages }: WordTables, request: PartsRequest): AsyncGenerator<PlacedPart> {
  const { from, rows, besideMin } = request
  const reach = await messages.reach()
  const workshop = (reach - from > besideMin ? await startThread() : undefined) ?? workshopHere()
  let before: Promise<PlacedPart> | undefined
  try {
    for await (const step of steps(messages, { from, rows, reach })) {
      if (step.batch !== undefined) {
        await workshop.add(step.batch)
        continue
      }
      const made = workshop
        .finish()
        .then((part) => ({ ...part, from: step.from, to: step.to ?? step.from + part.documents.size }))
      made.catch(() => undefined) // whoever asks for it is told
      // While one is written the next is made.
      if (before !== undefined) yield* whatThereIs(await before)
      before = made
    }
    if (before !== undefined) yield* whatThereIs(await before)
  } finally {
    workshop.close()
  }
}

type Step = PartStep | { readonly batch?: undefined; readonly from: number; readonly to: undefined }

/** Of what does not lie in the order of its numbers, each part is asked for by its bounds. */
async function* steps(
  messages: WordTables["messages"],
  { from, rows, reach }: Omit<PartsRequest, "besideMin"> & { readonly reach: number },
): AsyncGenerator<Step> {
  let start = from
  for await (const step of messageParts(messages, from, rows)) {
    yield step
    if (step.batch === undefined) start = step.to
  }
  for (; start < reach; start += rows) {
    const isLast = start + rows >= reach
    const bounds = { from: start, ...(isLast ? {} : { to: start + rows }) }
    for await (const batch of sortedBatches(messages, bounds)) yield { batch }
    yield { from: start, to: isLast ? undefined : start + rows }
  }
}

function* whatThereIs(part: PlacedPart): Generator<PlacedPart> {
  if (part.documents.size > 0) yield part
}

interface Workshop {
  /** Waits until there is room for another. */
  add(batch: MessageBatch): Promise<void>
  finish(): Promise<MadePart>
  close(): void
}

function workshopHere(): Workshop {
  let maker = createPartMaker()
  return {
    add: async (batch) => maker.add(batch),
    finish: async () => {
      const part = maker.finish()
      maker = createPartMaker()
      return part
    },
    close: () => undefined,
  }
}

// --- The thread --------------------------------------------------------------------------------------------------------

/** So many bytes of messages may wait for the thread. */
const AHEAD_BYTES = 12 * 1024 * 1024

async function startThread(): Promise<Workshop | undefined> {
  const url = threadUrl("src/sessions/words/write/shard-worker.ts")
  const thread = await startAnswering<PartOrder, PartAnswer>(url, "makes the index of words")
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
      own.catch(() => undefined) // whoever waits for it is told
      added.push(own)
      while (aheadBytes > AHEAD_BYTES || added.length > 1) await added.shift()
    },
    finish: async () => {
      // Asked for at once: what is added from here on is of the next part.
      const made = thread.ask({ ask: "finish" })
      await Promise.all([made, ...added.splice(0)])
      const { documents, columns, blocks } = (await made) as PartAnswer & MadePart
      return { documents, columns, blocks }
    },
    close: thread.close,
  }
}
