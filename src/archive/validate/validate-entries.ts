/**
 * An archive judged entry by entry, ahead of whoever takes the rows: a large one in a thread of its own, so that one core
 * judges while the other stores. Where no thread starts, and for a small one, it is done here.
 */
import { startAnswering, threadUrl } from "../../platform/threads.ts"
import { judgedBatches, type RowBatch } from "../../substrate/columns/row-batch.ts"
import type { ArchiveEntry } from "../file/manifest.ts"
import { NotAnArchive } from "../file/tar.ts"
import { createJudge, type Judged, type Verdict } from "./entry-validator.ts"
import type { Answered, Asked } from "./validate-worker.ts"

export interface JudgedEntry {
  readonly entry: ArchiveEntry
  readonly batches: readonly RowBatch[]
}

interface Court {
  judged(entry: ArchiveEntry, content: Uint8Array): Promise<Judged>
  verdict(): Promise<Verdict>
  close(): void
}

/** Below so many bytes a thread costs more than it saves. */
const BYTES_MIN = 32_000_000
/** So many bytes of rows may be judged, or wait for it, before they are taken. */
const AHEAD_BYTES = 8 * 1024 * 1024

/** In that order; the last that it gives is what can be said of all of them. */
export async function* judgedEntries(
  entries: readonly ArchiveEntry[],
  contentOf: (entry: ArchiveEntry) => Promise<Uint8Array>,
): AsyncGenerator<JudgedEntry, Verdict> {
  const isLarge = entries.reduce((sum, entry) => sum + entry.raw_bytes, 0) >= BYTES_MIN
  const court = (isLarge ? await startThread() : undefined) ?? courtHere()
  try {
    const waiting: { readonly entry: ArchiveEntry; readonly judged: Promise<Judged> }[] = []
    let aheadBytes = 0
    let next = 0
    // One content is asked for after the other: sessions are judged before what is in them.
    let asked: Promise<unknown> = Promise.resolve()
    const askAhead = () => {
      for (let entry = entries[next]; entry !== undefined; entry = entries[next]) {
        if (waiting.length > 0 && aheadBytes + entry.raw_bytes > AHEAD_BYTES) return
        next++
        aheadBytes += entry.raw_bytes
        const content = asked.then(() => contentOf(entry))
        const judged = content.then((bytes) => court.judged(entry, bytes))
        judged.catch(() => undefined) // whoever asks for it is told
        asked = content
        waiting.push({ entry, judged })
      }
    }
    askAhead()
    for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
      const { entry, judged } = first
      const { raw, keyHashes } = await judged
      aheadBytes -= entry.raw_bytes
      askAhead()
      yield { entry, batches: judgedBatches(entry.table.definition, raw, keyHashes) }
    }
    return await court.verdict()
  } finally {
    court.close()
  }
}

function courtHere(): Court {
  const judge = createJudge()
  return {
    judged: async (entry, content) => judge.entry(entry, entry.table, content),
    verdict: async () => judge.verdict(),
    close: () => undefined,
  }
}

// --- The thread --------------------------------------------------------------------------------------------------------

async function startThread(): Promise<Court | undefined> {
  const thread = await startAnswering<Asked, Answered>(threadUrl("src/archive/validate/validate-worker.ts"), "judges")
  if (thread === undefined) return undefined
  const ask = async (asked: Asked, moved: readonly ArrayBufferLike[] = []): Promise<Answered> => {
    const answered = await thread.ask(asked, moved)
    if (answered.said === "refused") throw new NotAnArchive(answered.reason)
    return answered
  }
  return {
    judged: async (entry, content) => {
      const { name, rows, bytes, raw_bytes, sha256, table } = entry
      const listed = { name, rows, bytes, raw_bytes, sha256 }
      const asked = { ask: "entry", listed, table: table.definition.name, content } as const
      return (await ask(asked, [content.buffer])) as Answered & Judged
    },
    verdict: async () => (await ask({ ask: "verdict" })) as Answered & Verdict,
    close: thread.close,
  }
}
