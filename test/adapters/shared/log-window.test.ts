import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import { seededRandom } from "../../../src/platform/host/random.ts"
import { sourceFile } from "../../source-file.ts"

async function linesOf(text: string, sizeBytes?: number): Promise<string[]> {
  const base = mkdtempSync(join(tmpdir(), "pond-window-"))
  try {
    const path = join(base, "log.jsonl")
    writeFileSync(path, text)
    const { size, mtimeMs, ino } = statSync(path)
    const file = sourceFile("log.jsonl", { path, sizeBytes: sizeBytes ?? size, modifiedMs: mtimeMs, inode: ino })
    const lines: string[] = []
    for await (const { records } of resolve({}, { key: "log", root: base, files: [file] })) {
      for (const record of records) lines.push("text" in record ? record.text : "")
    }
    return lines
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

test("lines of any length come out as they lie, whatever room the one before took", async () => {
  const random = seededRandom(5)
  const lengths = [10, 3_000_000, 0, 20_000_000, 5, 1_048_575, 1_048_576, 9_000_000, 1]
  const lines = lengths.map((length) => String.fromCharCode(97 + Math.floor(random.next() * 26)).repeat(length))
  const text = lines.join("\n")
  const read = await linesOf(text)
  expect(read.map(({ length }) => length)).toEqual(lengths)
  expect(read.every((line, index) => line === lines[index])).toBe(true)
})

test("a log that has grown since it was looked at is read to its end", async () => {
  const lines = ["a".repeat(100), "b".repeat(12_000_000), "c".repeat(5_000_000)]
  const read = await linesOf(lines.join("\n"), 50)
  expect(read.map(({ length }) => length)).toEqual([100, 12_000_000, 5_000_000])
})
