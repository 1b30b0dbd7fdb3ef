/**
 * What every response of a model took, as columns: a row for each record that says so, in the order of storing. A million
 * messages have about 400,000 of them, which as objects would take 150 MB and as columns take 25.
 */
import type { ResponseUsage, UsageMemory } from "../../adapters/usage-reading.ts"

/** Classes of tokens, in the order in which they are shown. All but `reasoning` add up. */
export const TOKEN_CLASSES = [
  "input",
  "cacheRead",
  "cacheWrite",
  "cacheWrite5m",
  "cacheWrite1h",
  "output",
  "reasoning",
] as const
export type TokenClass = (typeof TOKEN_CLASSES)[number]

export interface UsageSession {
  readonly id: string
  readonly sourceAgent: string
  readonly project: string
  /** What the adapter remembers between two readings. */
  memory: UsageMemory
}

const COLUMNS = {
  session: Uint32Array,
  /** Of the model's name in `models`; the highest number where none was recorded. */
  model: Uint16Array,
  ordinal: Int32Array,
  timeMs: Float64Array,
  /** Two halves of the hash of the response's key. */
  keyHigh: Uint32Array,
  keyLow: Uint32Array,
  /** 1 where another session mostly has the response itself. */
  isEcho: Uint8Array,
  costUsd: Float64Array,
  input: Uint32Array,
  cacheRead: Uint32Array,
  cacheWrite: Uint32Array,
  cacheWrite5m: Uint32Array,
  cacheWrite1h: Uint32Array,
  output: Uint32Array,
  reasoning: Uint32Array,
} as const

type Columns = { readonly [Name in keyof typeof COLUMNS]: InstanceType<(typeof COLUMNS)[Name]> }

export interface UsageTable {
  readonly count: number
  readonly columns: Columns
  readonly sessions: readonly UsageSession[]
  readonly models: readonly string[]
}

export const NO_MODEL = 0xffff

export interface UsageBuilder {
  session(id: string, sourceAgent: string, project: string): number
  memoryOf(session: number): UsageMemory
  add(at: UsagePlace, usage: ResponseUsage): void
  table(): UsageTable
}

export interface UsagePlace {
  readonly session: number
  readonly ordinal: number
  readonly timeMs: number
  readonly isCopy: boolean
}

const ROOM = 4_096

/** Goes on with a table, which it changes. */
export function buildUsage(before?: UsageTable): UsageBuilder {
  let count = before?.count ?? 0
  let columns: Columns = before?.columns ?? columnsFor(() => ROOM)
  const sessions = [...(before?.sessions ?? [])]
  const models = [...(before?.models ?? [])]
  const sessionAt = new Map(sessions.map(({ id }, at) => [id, at]))
  const modelAt = new Map(models.map((model, at) => [model, at]))

  const numberOf = (model: string | undefined) => {
    if (model === undefined) return NO_MODEL
    const known = modelAt.get(model)
    if (known !== undefined) return known
    if (models.length >= NO_MODEL) return NO_MODEL
    modelAt.set(model, models.length)
    return models.push(model) - 1
  }

  return {
    session: (id, sourceAgent, project) => {
      const known = sessionAt.get(id)
      if (known !== undefined) return known
      sessionAt.set(id, sessions.length)
      return sessions.push({ id, sourceAgent, project, memory: {} }) - 1
    },
    memoryOf: (session) => (sessions[session] as UsageSession).memory,
    add: ({ session, ordinal, timeMs, isCopy }, usage) => {
      if (count >= columns.session.length) columns = grown(columns, count)
      const hash = Bun.hash.xxHash64(usage.key)
      columns.session[count] = session
      columns.model[count] = numberOf(usage.model)
      columns.ordinal[count] = ordinal
      columns.timeMs[count] = timeMs
      columns.keyHigh[count] = Number(hash >> 32n)
      columns.keyLow[count] = Number(hash & 0xffff_ffffn)
      columns.isEcho[count] = isCopy || usage.isEcho === true ? 1 : 0
      columns.costUsd[count] = usage.costUsd ?? Number.NaN
      for (const name of TOKEN_CLASSES) columns[name][count] = usage[name]
      count++
    },
    table: () => ({ count, columns, sessions, models }),
  }
}

function columnsFor(lengthOf: () => number): Columns {
  const made = Object.entries(COLUMNS).map(([name, Kind]) => [name, new Kind(lengthOf())])
  return Object.fromEntries(made) as Columns
}

function grown(columns: Columns, count: number): Columns {
  const larger = columnsFor(() => count * 2)
  for (const name of Object.keys(COLUMNS) as (keyof Columns)[]) larger[name].set(columns[name])
  return larger
}

// --- Bytes ------------------------------------------------------------------------------------------------------------

/** The columns one behind the other, widest first so that each begins where its numbers may. */
const ORDER = (Object.keys(COLUMNS) as (keyof Columns)[]).toSorted(
  (left, right) => COLUMNS[right].BYTES_PER_ELEMENT - COLUMNS[left].BYTES_PER_ELEMENT,
)

export function columnBytes({ count, columns }: UsageTable): Uint8Array {
  const bytes = new Uint8Array(bytesOf(count))
  let at = 0
  for (const name of ORDER) {
    const { buffer, byteOffset, BYTES_PER_ELEMENT: width } = columns[name]
    bytes.set(new Uint8Array(buffer, byteOffset, count * width), at)
    at += count * width
  }
  return bytes
}

/** Nothing where the bytes are not those of so many rows. */
export function columnsOfBytes(bytes: Uint8Array, count: number): Columns | undefined {
  if (bytes.length !== bytesOf(count)) return undefined
  // A separate copy, because numbers begin only at places that their width divides.
  const aligned = new Uint8Array(bytes)
  let at = 0
  const read = ORDER.map((name) => {
    const Kind = COLUMNS[name]
    const column = new Kind(aligned.buffer, at, count)
    at += count * Kind.BYTES_PER_ELEMENT
    return [name, column]
  })
  return Object.fromEntries(read) as Columns
}

function bytesOf(count: number): number {
  return count * ORDER.reduce((sum, name) => sum + COLUMNS[name].BYTES_PER_ELEMENT, 0)
}
