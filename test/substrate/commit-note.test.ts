/** Notes lie in buckets, where another version of pond reads them: their bytes stay as `FORMAT.md` has them. */
import { expect, test } from "bun:test"
import { packCommitNote, readCommitNote } from "../../src/substrate/bucket/commit-note.ts"

const NOTE = { manifest: Buffer.from([1, 2, 3]), lines: "ab" }

test("a note is the manifest, its lines, and a seal of 24 bytes", () => {
  const packed = Buffer.from(packCommitNote(NOTE, 7n))
  expect(packed.subarray(0, -8).toString("hex")).toBe("0102036162" + "0300000000000000" + "0700000000000000")
  expect(packed.readBigUInt64LE(packed.length - 8)).toBe(Bun.hash.xxHash3(packed.subarray(0, -8)))
  const read = readCommitNote(packed, 7n)
  expect([...(read?.manifest ?? [])]).toEqual([1, 2, 3])
  expect(read?.lines).toBe("ab")
})

test("one that was changed, cut short, or written for another version is none", () => {
  const packed = Buffer.from(packCommitNote(NOTE, 7n))
  const changed = Buffer.from(packed)
  changed[0] = 9
  for (const bad of [changed, packed.subarray(0, 20), packed.subarray(0, 0)]) {
    expect(readCommitNote(bad, 7n)).toBeUndefined()
  }
  expect(readCommitNote(packed, 8n)).toBeUndefined()
})
