/**
 * Validates the entries of a file ahead of the consumer of their rows, in a separate process: one core validates while
 * the other stores, and a process can be bounded and killed. An export file of 400 kB with 40 changed bytes behind valid
 * checksums kept the reader of Arrow in a loop for ever, and others made it take 3 GB. Nothing of an entry is read here
 * before its bytes were read there within the limits.
 */
import { ProcessEnded, startLimitedProcess } from "../../platform/process/limited-process.ts"
import { type RowBatch, readValidatedBatches } from "../../substrate/columns/row-batch.ts"
import type { ArchiveEntry } from "../file/manifest.ts"
import { ENTRY_BYTES_MAX, InvalidArchive } from "../file/tar.ts"
import { decompressEntry, type Findings } from "./entry-validator.ts"
import type { Question, Reply } from "./validate-process.ts"

export interface ValidatedEntry {
  readonly entry: ArchiveEntry
  readonly batches: readonly RowBatch[]
}

/** Of processor time for an entry, however small it is, and for each MB of its rows: a hundred times what a real one takes. */
const CPU_SECONDS = 6
const CPU_SECONDS_PER_MB = 0.5
/** How much longer it may take by the clock, for a machine that is busy with other work, or a process that waits for nothing. */
const CLOCK_TIMES_CPU = 10
/** How far validation may run ahead of the consumer. */
const AHEAD_BYTES = 8 * 1024 * 1024

/** Yields the entries in the given order and returns what was found in all of them. */
export async function* validateEntries(
  entries: readonly ArchiveEntry[],
  contentOf: (entry: ArchiveEntry) => Promise<Uint8Array>,
): AsyncGenerator<ValidatedEntry, Findings> {
  const validator = startValidator(memoryFor(entries))
  try {
    const waiting: { readonly entry: ArchiveEntry; readonly rows: Promise<readonly RowBatch[]> }[] = []
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
        const rows = content.then((bytes) => validateOne(validator, entry, bytes))
        rows.catch(() => undefined) // thrown where it is awaited
        asked = content
        waiting.push({ entry, rows })
      }
    }
    askAhead()
    for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
      const { entry, rows } = first
      const batches = await rows
      aheadBytes -= entry.raw_bytes
      askAhead()
      yield { entry, batches }
    }
    return await validator.findings()
  } finally {
    await validator.close()
  }
}

/** The same bytes that were judged are read here, so nothing can change between. */
async function validateOne(validator: Validator, entry: ArchiveEntry, content: Uint8Array) {
  const keyHashes = await validator.validate(entry, content)
  const raw = await decompressEntry(entry, content)
  return readValidatedBatches(entry.table.definition, raw, keyHashes)
}

// --- The process -----------------------------------------------------------------------------------------------------

interface Validator {
  /** The hashes of the keys, for each batch of the entry. */
  validate(entry: ArchiveEntry, content: Uint8Array): Promise<readonly Uint32Array[]>
  findings(): Promise<Findings>
  close(): Promise<void>
}

/** What a small file may need, beyond what the process has when it starts: real ones need 90 MB of it. */
const MEMORY_BYTES = 256 * 1024 * 1024
/** Of rows, for each byte of the largest entry: the bytes, what is decoded of them, and their values. */
const MEMORY_PER_ENTRY_BYTE = 3
/** For each byte of the file: the ids of its sessions and of its bytes are kept to the end. */
const MEMORY_PER_FILE_BYTE = 0.5

function memoryFor(entries: readonly ArchiveEntry[]): number {
  const largest = entries.reduce((most, entry) => Math.max(most, entry.raw_bytes), 0)
  const fileBytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  const bytes = Math.min(largest, ENTRY_BYTES_MAX) * MEMORY_PER_ENTRY_BYTE + fileBytes * MEMORY_PER_FILE_BYTE
  return MEMORY_BYTES + Math.ceil(bytes)
}

function startValidator(memoryBytes: number): Validator {
  const child = startLimitedProcess<Question, Reply>("archive")
  const ask = async (question: Question): Promise<Reply> => {
    const reply = await child.ask(question)
    if (reply.said === "refused") throw new InvalidArchive(reply.reason)
    return reply
  }
  let last: Promise<unknown> = ask({ ask: "open", memoryBytes })
  last.catch(() => undefined) // thrown by the first entry
  return {
    validate: async (entry, content) => {
      const { name, rows, bytes, raw_bytes, sha256, table } = entry
      const listed = { name, rows, bytes, raw_bytes, sha256 }
      const before = last
      const cpuSeconds = CPU_SECONDS + (raw_bytes / 1_000_000) * CPU_SECONDS_PER_MB
      const answered = ask({ ask: "entry", listed, table: table.definition.name, content, cpuSeconds })
      answered.catch(() => undefined) // thrown by `withinLimits`
      const limited = before.then(() => withinLimits(answered, entry, cpuSeconds * CLOCK_TIMES_CPU, child.kill))
      last = limited.catch(() => undefined)
      return ((await limited) as Reply & { said: "validated" }).keyHashes
    },
    findings: async () => (await ask({ ask: "findings", cpuSeconds: CPU_SECONDS })) as Reply & Findings,
    close: child.kill,
  }
}

const TOO_LONG = "cannot be read in a reasonable time"

/** Begins when the entry before it is done. An entry that takes more ends the process, and is refused. */
async function withinLimits<T>(
  answered: Promise<T>,
  entry: ArchiveEntry,
  seconds: number,
  kill: () => Promise<void>,
): Promise<T> {
  const refuse = (reason: string) => new InvalidArchive(`${entry.name} ${reason}`)
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(refuse(TOO_LONG))
    void kill()
  }, seconds * 1000)
  try {
    return await Promise.race([answered, late.promise])
  } catch (error) {
    if (!(error instanceof ProcessEnded) || error.limit === undefined) throw error
    throw refuse(error.limit === "time" ? TOO_LONG : "needs too much memory to be read")
  } finally {
    clearTimeout(timer)
  }
}
