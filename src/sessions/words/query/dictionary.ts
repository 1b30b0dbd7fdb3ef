/**
 * The term dictionary, searched for words that are spelled like a given one. Terms are sorted, so the first terms of a
 * block and of the next one give the common prefix of all its terms: most blocks are ruled out by that prefix and never
 * read.
 */
import { LruCache } from "../../../platform/lru-cache.ts"
import { type LoadedSegment, SegmentGone, type WordTables } from "../segment/segments.ts"
import type { IndexSnapshot } from "../snapshot.ts"
import { commonPrefix, createFuzzyMatcher, type FuzzyMatcher, matchLines } from "./fuzzy.ts"

export interface Dictionary {
  /** For each word the nearest known words, without stems and cut hashes. */
  findSimilar(snapshot: IndexSnapshot, words: readonly string[], distance: number): Promise<string[]>
}

const SIMILAR_MAX = 50
/** The marks of stems and cut hashes, which are not words. */
const DERIVED = /[*~]$/

/**
 * A word leads to a fifth of the blocks, and the next word to most of the same. All terms of a million messages are 9
 * MB.
 */
const CACHED_UNITS_MAX = 20_000_000

interface BlockAddress {
  readonly row: number
  /** Checked on every hit, because a store that was replaced has other blocks at the same row numbers. */
  readonly segment: string
}

export function openDictionary({ blocks }: WordTables): Dictionary {
  const kept = new LruCache<number, { readonly segment: string; readonly terms: string }>(CACHED_UNITS_MAX)

  async function readTerms(places: ReadonlyMap<number, BlockAddress>): Promise<ReadonlyMap<number, string>> {
    const known = new Map<number, string>()
    for (const { row, segment } of places.values()) {
      const own = kept.get(row)
      if (own?.segment === segment) known.set(row, own.terms)
    }
    const missing = [...places.keys()].filter((row) => !known.has(row))
    const found = await blocks.takeByNumber(missing, ["terms"])
    if (found.length < missing.length) throw new SegmentGone()
    for (const { row, terms } of found) {
      known.set(row, terms)
      kept.set(row, { segment: places.get(row)?.segment ?? "", terms }, terms.length)
    }
    return known
  }

  return {
    findSimilar: async ({ cover, tail }, words, distance) => {
      const sought = words.map((word) => createFuzzyMatcher(word, distance))
      const places = sought.map((near) => cover.flatMap((segment) => candidateBlocks(segment, near)))
      const stored = await readTerms(new Map(places.flat().map((place) => [place.row, place])))
      const fresh = tail.map(({ built }) => built.terms.join("\n"))
      const found = sought.flatMap((near, index) => {
        const own = (places[index] ?? []).flatMap(({ row }) => stored.get(row) ?? [])
        const apartness = new Map<string, number>()
        for (const text of [...own, ...fresh])
          for (const { like, apart } of matchLines(text, near)) if (!DERIVED.test(like)) apartness.set(like, apart)
        const nearest = [...apartness].toSorted(([, left], [, right]) => left - right)
        return nearest.slice(0, SIMILAR_MAX).map(([like]) => like)
      })
      return [...new Set(found)]
    },
  }
}

/** The blocks that may hold a term within the distance, in order. */
function candidateBlocks({ id, firstTerms, rows }: LoadedSegment, near: FuzzyMatcher): BlockAddress[] {
  return rows.flatMap((row, block) => {
    const next = firstTerms[block + 1]
    const start = next === undefined ? "" : commonPrefix(firstTerms[block] ?? "", next)
    return near.mayStartWith(start) ? [{ row, segment: id }] : []
  })
}
