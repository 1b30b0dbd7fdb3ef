/**
 * Validates the entries of a file ahead of the consumer of their rows. A large file is validated in a worker thread, so that
 * one core validates while the other stores. A small one, or where no thread starts, in this thread.
 */
import { startAnswering, threadUrl } from "../../platform/threads.ts"
import { type RowBatch, readValidatedBatches } from "../../substrate/columns/row-batch.ts"
import type { ArchiveEntry } from "../file/manifest.ts"
import { InvalidArchive } from "../file/tar.ts"
import { createEntryValidator, type Findings, type ValidatedRows } from "./entry-validator.ts"
import type { Answered, Asked } from "./validate-worker.ts"

export interface ValidatedEntry {
  readonly entry: ArchiveEntry
  readonly batches: readonly RowBatch[]
}

interface Validator {
  validate(entry: ArchiveEntry, content: Uint8Array): Promise<ValidatedRows>
  findings(): Promise<Findings>
  close(): void
}

/** A smaller file costs more in starting a thread than it saves. */
const BYTES_MIN = 32_000_000
/** How far validation may run ahead of the consumer. */
const AHEAD_BYTES = 8 * 1024 * 1024

/** Yields the entries in the given order and returns what was found in all of them. */
export async function* validateEntries(
  entries: readonly ArchiveEntry[],
  contentOf: (entry: ArchiveEntry) => Promise<Uint8Array>,
): AsyncGenerator<ValidatedEntry, Findings> {
  const isLarge = entries.reduce((sum, entry) => sum + entry.raw_bytes, 0) >= BYTES_MIN
  const validator = (isLarge ? await startValidatorThread() : undefined) ?? createInlineValidator()
  try {
    const waiting: { readonly entry: ArchiveEntry; readonly validated: Promise<ValidatedRows> }[] = []
    let aheadBytes = 0
    let next = 0
    // Contents are read one after the other, because sessions must be validated before their rows.
    let asked: Promise<unknown> = Promise.resolve()
    const askAhead = () => {
      for (let entry = entries[next]; entry !== undefined; entry = entries[next]) {
        if (waiting.length > 0 && aheadBytes + entry.raw_bytes > AHEAD_BYTES) return
        next++
        aheadBytes += entry.raw_bytes
        const content = asked.then(() => contentOf(entry))
        const validated = content.then((bytes) => validator.validate(entry, bytes))
        validated.catch(() => undefined) // thrown where it is awaited
        asked = content
        waiting.push({ entry, validated })
      }
    }
    askAhead()
    for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
      const { entry, validated } = first
      const { raw, keyHashes } = await validated
      aheadBytes -= entry.raw_bytes
      askAhead()
      yield { entry, batches: readValidatedBatches(entry.table.definition, raw, keyHashes) }
    }
    return await validator.findings()
  } finally {
    validator.close()
  }
}

function createInlineValidator(): Validator {
  const validator = createEntryValidator()
  return {
    validate: async (entry, content) => validator.validate(entry, entry.table, content),
    findings: async () => validator.findings(),
    close: () => undefined,
  }
}

// --- The thread --------------------------------------------------------------------------------------------------------

async function startValidatorThread(): Promise<Validator | undefined> {
  const thread = await startAnswering<Asked, Answered>(
    threadUrl("src/archive/validate/validate-worker.ts"),
    "validates an export file",
  )
  if (thread === undefined) return undefined
  const ask = async (asked: Asked, moved: readonly ArrayBufferLike[] = []): Promise<Answered> => {
    const answered = await thread.ask(asked, moved)
    if (answered.said === "refused") throw new InvalidArchive(answered.reason)
    return answered
  }
  return {
    validate: async (entry, content) => {
      const { name, rows, bytes, raw_bytes, sha256, table } = entry
      const listed = { name, rows, bytes, raw_bytes, sha256 }
      const asked = { ask: "entry", listed, table: table.definition.name, content } as const
      return (await ask(asked, [content.buffer])) as Answered & ValidatedRows
    },
    findings: async () => (await ask({ ask: "findings" })) as Answered & Findings,
    close: thread.close,
  }
}
