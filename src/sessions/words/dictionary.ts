/**
 * All terms that there are, for the words that are spelled almost like one. They lie in order, so that where a block begins
 * and where the next one does says how all of its terms begin: most blocks are passed over by that, and never read.
 */
import { commonStart, leastApart, linesLike } from "./likeness.ts"
import { type LoadedSegment, SegmentGone, type WordTables } from "./segments.ts"
import type { Content } from "./view.ts"

export interface Dictionary {
  /** Of each word those nearest to it, whole words alone. */
  termsLike(content: Content, words: readonly string[], distance: number): Promise<string[]>
}

const LIKE_MAX = 50
/** Stems and cut hashes are no words. */
const DERIVED = /[*~]$/

export function openDictionary({ blocks }: WordTables): Dictionary {
  async function termsOf(rows: ReadonlySet<number>): Promise<ReadonlyMap<number, Uint8Array>> {
    const found = await blocks.takeRows([...rows], ["terms"])
    if (found.length < rows.size) throw new SegmentGone()
    return new Map(found.map(({ row, terms }) => [row, Buffer.from(terms)]))
  }

  return {
    termsLike: async ({ cover, tail }, words, distance) => {
      const rows = words.map((word) => cover.flatMap((segment) => rowsNear(segment, word, distance)))
      const stored = await termsOf(new Set(rows.flat()))
      const fresh = tail.map(({ built }) => Buffer.from(built.terms.join("\n")))
      const found = words.flatMap((word, index) => {
        const own = (rows[index] ?? []).flatMap((row) => stored.get(row) ?? [])
        const near = new Map<string, number>()
        for (const text of [...own, ...fresh])
          for (const { like, apart } of linesLike(text, word, distance)) if (!DERIVED.test(like)) near.set(like, apart)
        const nearest = [...near].toSorted(([, left], [, right]) => left - right)
        return nearest.slice(0, LIKE_MAX).map(([like]) => like)
      })
      return [...new Set(found)]
    },
  }
}

/** The blocks that may hold a term so near, in order. */
function rowsNear({ firstTerms, rows }: LoadedSegment, word: string, distance: number): number[] {
  let [last, least] = ["", 0]
  return rows.filter((_, block) => {
    const next = firstTerms[block + 1]
    const start = next === undefined ? "" : commonStart(firstTerms[block] ?? "", next)
    if (start !== last) [last, least] = [start, leastApart(start, word)]
    return least <= distance
  })
}
