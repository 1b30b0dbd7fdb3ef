/** Damages that a restore could do, planted into what it made: a comparison that does not see each of them proves nothing. */
import type { Difference } from "./compare-trees.ts"
import { differenceOf } from "./compare-trees.ts"
import type { FileRecords } from "./records.ts"

type Damage = (records: readonly string[], at: number) => readonly string[]

export const DAMAGES: Readonly<Record<string, Damage>> = {
  "a record is gone": (records, at) => records.toSpliced(at, 1),
  "a record comes twice": (records, at) => records.toSpliced(at, 0, `${records[at]} `),
  "two records changed places": (records, at) => {
    const next = (at + 1) % records.length
    return records.with(at, records[next] ?? "").with(next, records[at] ?? "")
  },
  "a letter changed": (records, at) => records.with(at, changeOne(records[at] ?? "")),
  "a key is gone": (records, at) => records.with(at, (records[at] ?? "").replace(/"[^"]*":(?:"[^"]*"|[\w.-]+),?/, "")),
}

function changeOne(record: string): string {
  const middle = Math.max(record.indexOf(" ") + 1, record.length >> 1)
  return `${record.slice(0, middle)}${record[middle] === "x" ? "y" : "x"}${record.slice(middle + 1)}`
}

/** What was not noticed, and how much was tried. */
export function plantAll(
  file: string,
  whole: FileRecords,
  at: number,
): { readonly tried: number; readonly missed: Difference[] } {
  const known = new Set(whole.records)
  const missed: Difference[] = []
  let tried = 0
  for (const [what, damage] of Object.entries(DAMAGES)) {
    const records = damage(whole.records, at)
    const isSame =
      records.length === whole.records.length && records.every((each, index) => each === whole.records[index])
    // Rows have no order, and equal records can change places.
    if (isSame || (whole.kind === "rows" && what.includes("places"))) continue
    tried++
    if (differenceOf(whole, { ...whole, records }, known) === undefined) missed.push({ file, what })
  }
  return { tried, missed }
}
