/** All terms that there are, for the words that are spelled almost like one. Read at the first question, and kept. */
import { eq } from "../../substrate/filter.ts"
import { linesLike } from "./likeness.ts"
import type { LoadedSegment, WordTables } from "./segments.ts"
import type { Content } from "./view.ts"

export interface Dictionary {
  /** Of each word those nearest to it, whole words alone. */
  termsLike(content: Content, words: readonly string[], distance: number): Promise<string[]>
}

const LIKE_MAX = 50
/** Stems and cut hashes are no words. */
const DERIVED = /[*~]$/
const KEPT_BYTES = 24_000_000

export function openDictionary({ blocks }: WordTables): Dictionary {
  const kept = new Map<string, readonly Uint8Array[]>()

  async function linesOf({ id }: LoadedSegment): Promise<readonly Uint8Array[]> {
    const known = kept.get(id)
    if (known !== undefined) return known
    const texts: Uint8Array[] = []
    for await (const rows of blocks.batches({ columns: ["terms"], where: eq("segment", id) }))
      texts.push(Buffer.from(rows.map(({ terms }) => terms).join("\n")))
    kept.set(id, texts)
    return texts
  }

  /** Segments that were merged away, and more than is worth keeping. */
  function tidied(content: Content): void {
    const live = new Set(content.cover.map(({ id }) => id))
    let bytes = 0
    for (const [id, texts] of kept) {
      bytes += texts.reduce((sum, text) => sum + text.length, 0)
      if (!live.has(id) || bytes > KEPT_BYTES) kept.delete(id)
    }
  }

  return {
    termsLike: async (content, words, distance) => {
      const stored = (await Promise.all(content.cover.map(linesOf))).flat()
      const fresh = content.tail.map(({ built }) => Buffer.from(built.terms.join("\n")))
      tidied(content)
      const found = words.flatMap((word) => {
        const near = new Map<string, number>()
        for (const text of [...stored, ...fresh])
          for (const { like, apart } of linesLike(text, word, distance)) if (!DERIVED.test(like)) near.set(like, apart)
        const nearest = [...near].toSorted(([, left], [, right]) => left - right)
        return nearest.slice(0, LIKE_MAX).map(([like]) => like)
      })
      return [...new Set(found)]
    },
  }
}
