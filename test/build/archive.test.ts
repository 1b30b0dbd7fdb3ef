import { expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Entry, tar, zstd } from "../../build/release/archive.ts"

const LONG = `pond-1.2.3/licenses/${"a-name-that-goes-on".repeat(5)}.txt`
const ENTRIES: readonly Entry[] = [
  { path: "pond-1.2.3/pond", content: Buffer.alloc(100_000, "x"), isExecutable: true },
  { path: "pond-1.2.3/README.md", content: Buffer.from("# pond\n") },
  { path: "pond-1.2.3/empty", content: new Uint8Array() },
  { path: LONG, content: Buffer.alloc(512, "y") },
]

test("the system's tar unpacks an archive to what went in", () => {
  const directory = mkdtempSync(join(tmpdir(), "pond-archive-"))
  try {
    writeFileSync(join(directory, "a.tar"), tar(ENTRIES))
    const ended = Bun.spawnSync(["tar", "xf", "a.tar"], { cwd: directory })
    expect({ code: ended.exitCode, err: ended.stderr.toString() }).toEqual({ code: 0, err: "" })
    for (const { path, content } of ENTRIES) {
      expect(Buffer.compare(readFileSync(join(directory, path)), content)).toBe(0)
    }
    expect(statSync(join(directory, "pond-1.2.3/pond")).mode & 0o777).toBe(0o755)
    expect(statSync(join(directory, "pond-1.2.3/README.md")).mode & 0o777).toBe(0o644)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test("the same contents make the same bytes, in whatever order they were given", () => {
  expect(tar(ENTRIES.toReversed()).equals(tar(ENTRIES))).toBe(true)
})

test("a compressed archive is one zstd file", async () => {
  const archive = tar(ENTRIES)
  expect(Bun.zstdDecompressSync(await zstd(archive)).equals(archive)).toBe(true)
})

test("a path that no archive can hold is refused by its name", () => {
  const path = `pond/${"x".repeat(200)}`
  expect(() => tar([{ path, content: new Uint8Array() }])).toThrow("is too long for an archive")
})
