/**
 * A part of the messages on its way into a segment: what they are found by, and the blocks of all terms, as they are
 * stored. Pure, so that any thread can make it.
 */

import { packedBytes } from "../segment/compression.ts"
import { type DocumentBytes, type Documents, documentBytes } from "../segment/documents.ts"
import { type Block, createBlockWriter, encodeList } from "../segment/postings.ts"
import { currentBook } from "../terms/term-interner.ts"
import { createBuilder, type MessageBatch } from "./index-builder.ts"

/** As it lies in its row. */
export interface PackedBlock {
  readonly first_term: string
  readonly terms: string
  readonly lists: Uint8Array
}

export interface MadePart {
  readonly documents: Documents
  /** The same as it lies in its row. */
  readonly columns: DocumentBytes
  readonly blocks: readonly PackedBlock[]
}

export interface PartMaker {
  add(batch: MessageBatch): void
  finish(): MadePart
}

export function createPartMaker(): PartMaker {
  const builder = createBuilder(currentBook())
  return {
    add: (batch) => builder.add(batch),
    finish: () => {
      const { documents, terms, numbersOf } = builder.finish()
      const writer = createBlockWriter()
      const blocks: PackedBlock[] = []
      const put = (block: Block | undefined) => {
        if (block !== undefined) blocks.push(packedBlock(block))
      }
      for (const [index, term] of terms.entries()) put(writer.add(term, encodeList(numbersOf(index), documents.size)))
      put(writer.finish())
      return { documents, columns: packedDocuments(documents), blocks }
    },
  }
}

export function packedBlock({ terms, lists }: Block): PackedBlock {
  return { first_term: terms[0] ?? "", terms: terms.join("\n"), lists: packedBytes(lists) }
}

function packedDocuments(documents: Documents): DocumentBytes {
  const packed = Object.entries(documentBytes(documents)).map(([name, bytes]) => [name, packedBytes(bytes)])
  return Object.fromEntries(packed) as unknown as DocumentBytes
}
