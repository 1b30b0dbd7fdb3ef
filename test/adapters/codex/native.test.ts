import { expect, test } from "bun:test"
import { join } from "node:path"
import type { OutputFile } from "../../../src/adapters/adapter.ts"
import { codex } from "../../../src/adapters/codex/adapter.ts"
import { fileBytes } from "../../../src/restore/draft.ts"
import { createOutputFiles, nativeFiles } from "../../../src/restore/output-files.ts"
import { reroot } from "../../../src/restore/reroot.ts"
import { CWD, fixture, stored, threadsBelow } from "./support.ts"

async function filesOf(name: string): Promise<Map<string, OutputFile>> {
  const files = new Map<string, OutputFile>()
  for (const thread of (await threadsBelow(fixture(name))).values())
    for (const file of nativeFiles(codex, stored(thread))) files.set(file.relativePath, file)
  return files
}

function bytes(file: OutputFile | undefined): Buffer {
  if (file === undefined || file.form === "database") throw new Error("no file")
  return Buffer.from(fileBytes(file))
}

test.each(["forked", "reverted", "odd-numbers", "compacted", "tools"])(
  "rollouts that others may point into come back byte for byte: %s",
  async (name) => {
    const files = await filesOf(name)
    expect(files.size).toBeGreaterThan(0)
    for (const [place, file] of files) {
      const want = Buffer.from(await Bun.file(join(fixture(name), place)).arrayBuffer())
      expect(bytes(file).equals(want)).toBe(true)
    }
  },
)

test("only the numbers that are spelled otherwise are kept beside a record", async () => {
  const [parent] = (await threadsBelow(fixture("odd-numbers"))).values()
  const spellings = (parent?.entries ?? []).flatMap(({ message }) => {
    const source = message.options["source"] as { spelling?: unknown }
    return source.spelling === undefined ? [] : [source.spelling]
  })
  expect(spellings).toEqual(Array(2).fill({ "/payload/rate_limits/primary/used_percent": "0.0" }))
})

test("a thread's lines of the index go back into the index, which stays everybody's", async () => {
  const index = [...(await filesOf("enveloped")).values()].filter(
    ({ relativePath }) => relativePath === "session_index.jsonl",
  )
  expect(index).toEqual([
    {
      form: "log",
      relativePath: "session_index.jsonl",
      isShared: true,
      lines: [
        '{"id":"01998f8c-e680-7000-8000-000000000001","thread_name":"first name","updated_at":"2025-09-28T09:30:00Z"}',
        '{"id":"01998f8c-e680-7000-8000-000000000001","thread_name":"The missing file","updated_at":"2025-09-28T09:40:00.123456789Z"}',
      ],
    },
  ])
})

test("a compressed rollout comes back compressed, and says the same", async () => {
  const [[place, file] = []] = await filesOf("cold")
  const want = await Bun.file(join(fixture("cold"), place ?? "")).bytes()
  expect(place).toEndWith(".jsonl.zst")
  expect(Bun.zstdDecompressSync(bytes(file)).toString()).toBe(Bun.zstdDecompressSync(want).toString())
})

test("a fork that moved to another directory still points at the end of a line", async () => {
  const files = [...(await filesOf("odd-numbers")).values()]
  const moved = reroot(files, { from: CWD, to: "/somewhere/with a longer name", relativePath: undefined })
  expect(moved.rewrittenPaths).toBeGreaterThan(5)
  const [base, fork] = repointed(moved.files)
  const { end_ordinal_exclusive: end, end_byte_offset: offset } = baseOf(fork)
  const before = bytes(base).subarray(0, offset).toString()
  const last = before.trimEnd().split("\n").at(-1) ?? ""
  expect(before).toEndWith("\n")
  expect(JSON.parse(last).ordinal).toBe(end - 1)
  expect(offset).not.toBe(baseOf(files[1]).end_byte_offset)
})

test("what did not move is not touched", async () => {
  const files = [...(await filesOf("forked")).values()]
  expect(repointed(files)).toEqual(files)
})

function repointed(files: readonly OutputFile[]): OutputFile[] {
  const output = createOutputFiles()
  codex.relocation?.repoint?.(files, output)
  return output.files()
}

function baseOf(file: OutputFile | undefined): { end_ordinal_exclusive: number; end_byte_offset: number } {
  const [line] = bytes(file).toString().split("\n")
  return JSON.parse(line ?? "").payload.history_base
}
