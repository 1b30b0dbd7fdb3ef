/**
 * All terms that there are, for the words that are spelled almost like one. They lie in order, so that where a block begins
 * and where the next one does says how all of its terms begin: most blocks are passed over by that, and never read.
 */
import { commonStart, linesLike, type Nearness, nearnessTo } from "./likeness.ts"
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
  async function termsOf(rows: ReadonlySet<number>): Promise<ReadonlyMap<number, string>> {
    const found = await blocks.takeRows([...rows], ["terms"])
    if (found.length < rows.size) throw new SegmentGone()
    return new Map(found.map(({ row, terms }) => [row, terms]))
  }

  return {
    termsLike: async ({ cover, tail }, words, distance) => {
      const sought = words.map((word) => nearnessTo(word, distance))
      const rows = sought.map((near) => cover.flatMap((segment) => rowsNear(segment, near)))
      const stored = await termsOf(new Set(rows.flat()))
      const fresh = tail.map(({ built }) => built.terms.join("\n"))
      const found = sought.flatMap((near, index) => {
        const own = (rows[index] ?? []).flatMap((row) => stored.get(row) ?? [])
        const apartness = new Map<string, number>()
        for (const text of [...own, ...fresh])
          for (const { like, apart } of linesLike(text, near)) if (!DERIVED.test(like)) apartness.set(like, apart)
        const nearest = [...apartness].toSorted(([, left], [, right]) => left - right)
        return nearest.slice(0, LIKE_MAX).map(([like]) => like)
      })
      return [...new Set(found)]
    },
  }
}

/** The blocks that may hold a term so near, in order. */
function rowsNear({ firstTerms, rows }: LoadedSegment, near: Nearness): number[] {
  return rows.filter((_, block) => {
    const next = firstTerms[block + 1]
    return near.mayBegin(next === undefined ? "" : commonStart(firstTerms[block] ?? "", next))
  })
}
