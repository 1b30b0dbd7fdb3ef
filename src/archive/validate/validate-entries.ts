/**
 * Validates the entries of a file ahead of the consumer of their rows, in a worker thread: one core validates while the
 * other stores, and a thread can be ended. An export file of 400 kB with 40 changed bytes behind valid checksums kept the
 * reader of Arrow in a loop for ever, so an entry has a deadline and an amount of memory.
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

/** What an entry may take, however small it is, and for each MB of its rows: a hundred times what a real one takes. */
const DEADLINE_MS = 6_000
const DEADLINE_MS_PER_MB = 500
/** Of the process, while entries are validated: fewer bytes than this make more rows than anybody imports at once. */
const MEMORY_GROWTH_MAX = 2_000_000_000
const WATCH_EVERY_MS = 50
/** How far validation may run ahead of the consumer. */
const AHEAD_BYTES = 8 * 1024 * 1024

/** Yields the entries in the given order and returns what was found in all of them. */
export async function* validateEntries(
  entries: readonly ArchiveEntry[],
  contentOf: (entry: ArchiveEntry) => Promise<Uint8Array>,
): AsyncGenerator<ValidatedEntry, Findings> {
  const validator = (await startValidatorThread()) ?? createInlineValidator()
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

/** Where no thread starts. */
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
  let last: Promise<unknown> = Promise.resolve()
  return {
    validate: async (entry, content) => {
      const { name, rows, bytes, raw_bytes, sha256, table } = entry
      const listed = { name, rows, bytes, raw_bytes, sha256 }
      const asked = { ask: "entry", listed, table: table.definition.name, content } as const
      const answered = ask(asked, [content.buffer])
      answered.catch(() => undefined) // thrown by `withinLimits`
      const limited = last.then(() => withinLimits(answered, entry, thread.close))
      last = limited.catch(() => undefined)
      return (await limited) as Answered & ValidatedRows
    },
    findings: async () => (await ask({ ask: "findings" })) as Answered & Findings,
    close: thread.close,
  }
}

/** Begins when the entry before it is done. An entry that takes more ends the thread, and is refused. */
async function withinLimits<T>(answered: Promise<T>, entry: ArchiveEntry, end: () => void): Promise<T> {
  const refused = Promise.withResolvers<never>()
  const refuse = (reason: string) => {
    end()
    refused.reject(new InvalidArchive(`${entry.name} ${reason}`))
  }
  const deadlineMs = DEADLINE_MS + (entry.raw_bytes / 1_000_000) * DEADLINE_MS_PER_MB
  const most = process.memoryUsage.rss() + MEMORY_GROWTH_MAX
  const late = setTimeout(() => refuse("cannot be read in a reasonable time"), deadlineMs)
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() > most) refuse("needs too much memory to be read")
  }, WATCH_EVERY_MS)
  try {
    return await Promise.race([answered, refused.promise])
  } finally {
    clearTimeout(late)
    clearInterval(watch)
  }
}
