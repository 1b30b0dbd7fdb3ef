/**
 * Fingerprint of a root: one text for the names, sizes and times of everything in it. If it equals the remembered one,
 * nothing changed and no unit is checked. Checking 10,000 units took 12 ms, a sixth of a sync without changes.
 */
import type { SourceUnit } from "../../adapters/adapter.ts"

export interface RootFingerprint {
  add(unit: SourceUnit): void
  text(): string
}

/**
 * Covers what `unitSignature` covers for each unit, and the order of the units. Numbers are hashed in binary:
 * formatting them would take longest.
 */
export function createRootFingerprint(): RootFingerprint {
  const numbers: number[] = []
  const texts: string[] = []
  return {
    add: ({ key, files, row, beside }) => {
      texts.push(key)
      numbers.push(files.length)
      for (const { relativePath: place, form, sizeBytes, modifiedMs, changedMs, inode } of files) {
        if (row !== undefined && form === "database") continue
        if (place !== key) texts.push(place)
        numbers.push(sizeBytes, modifiedMs, changedMs ?? -1, inode)
      }
      if (row !== undefined) texts.push(row.mark)
      for (const record of beside ?? []) {
        const text = "text" in record ? record.text : JSON.stringify(record)
        texts.push(text)
        numbers.push(text.length)
      }
    },
    text: () => `${hashStats(new Float64Array(numbers))}.${hashStats(texts.join("\0"))}`,
  }
}

function hashStats(seen: Float64Array<ArrayBuffer> | string): string {
  return Bun.hash.xxHash64(seen).toString(16)
}
