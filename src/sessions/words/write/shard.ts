/**
 * Builds a shard: a run of messages as one segment's rows, ready to be stored. Pure, so it can run in a worker thread.
 */

import { compress } from "../segment/compression.ts"
import { type DocumentBytes, type Documents, documentBytes } from "../segment/documents.ts"
import { createBlockWriter, encodePostings, type PostingBlock } from "../segment/postings.ts"
import { currentInterner } from "../terms/term-interner.ts"
import { createIndexBuilder, type MessageBatch } from "./index-builder.ts"

/** A row of `word_blocks`, without its key. */
export interface StoredBlock {
  readonly first_term: string
  readonly terms: string
  readonly lists: Uint8Array
}

export interface BuiltShard {
  readonly documents: Documents
  /** The documents as stored, compressed. */
  readonly columns: DocumentBytes
  readonly blocks: readonly StoredBlock[]
}

export interface ShardBuilder {
  add(batch: MessageBatch): void
  finish(): BuiltShard
}

export function createShardBuilder(): ShardBuilder {
  const builder = createIndexBuilder(currentInterner())
  return {
    add: (batch) => builder.add(batch),
    finish: () => {
      const { documents, terms, numbersOf } = builder.finish()
      const writer = createBlockWriter()
      const blocks: StoredBlock[] = []
      const put = (block: PostingBlock | undefined) => {
        if (block !== undefined) blocks.push(toStoredBlock(block))
      }
      for (const [index, term] of terms.entries())
        put(writer.add(term, encodePostings(numbersOf(index), documents.size)))
      put(writer.finish())
      return { documents, columns: compressDocuments(documents), blocks }
    },
  }
}

export function toStoredBlock({ terms, lists }: PostingBlock): StoredBlock {
  return { first_term: terms[0] ?? "", terms: terms.join("\n"), lists: compress(lists) }
}

function compressDocuments(documents: Documents): DocumentBytes {
  const packed = Object.entries(documentBytes(documents)).map(([name, bytes]) => [name, compress(bytes)])
  return Object.fromEntries(packed) as unknown as DocumentBytes
}
