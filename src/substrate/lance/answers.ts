/** Runs queries of the engine, and reads what it sends without Arrow's library (`columns/answer.ts`). */
import type { Table as LanceTable } from "@lancedb/lancedb"
import { type Answer, readAnswer, schemaMetadata } from "../columns/answer.ts"

export interface QueryOptions {
  readonly maxBatchLength?: number
  readonly timeoutMs?: number
}

/** Calls of the engine's own package that its declarations hide. */
interface NativeQuery {
  nativeExecute(options: QueryOptions): Promise<{ next(): Promise<Uint8Array | null> }>
}

interface NativeTable {
  readonly inner: { schema(): Promise<Uint8Array> }
}

export async function* answersOf(query: object, options: QueryOptions = {}): AsyncGenerator<Answer, undefined> {
  const batches = await (query as NativeQuery).nativeExecute(options)
  for (let bytes = await batches.next(); bytes !== null; bytes = await batches.next()) yield readAnswer(bytes)
}

/** All of them at once. */
export async function allAnswers(query: object, options: QueryOptions = {}): Promise<readonly Answer[]> {
  const found: Answer[] = []
  for await (const answer of answersOf(query, options)) found.push(answer)
  return found
}

/** What is noted beside the columns of a table. */
export async function metadataOf(table: LanceTable): Promise<ReadonlyMap<string, string>> {
  return schemaMetadata(await (table as unknown as NativeTable).inner.schema())
}
