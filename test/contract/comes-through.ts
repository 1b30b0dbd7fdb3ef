/** One foreign restore, read back with the target's own source and compared with what was to be told. */
import { expect } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Adapter, Conversation, ForeignTarget, OutputFile } from "../../src/adapters/adapter.ts"
import { LOSSES } from "../../src/adapters/shared/losses.ts"
import { turnsOf } from "../../src/adapters/shared/turns.ts"
import { writeForeignRows } from "../../src/platform/files/foreign-sqlite-writer.ts"
import { fileBytes } from "../../src/restore/draft.ts"
import { foreignFiles } from "../../src/restore/output-files.ts"
import { transcriptItems } from "../../src/restore/transcript-items.ts"
import { conversationOf, logsOf } from "./fixtures.ts"

/** What was written, by its hash, and what its target read in it: what is written twice reads the same (law 5). */
export type ReadItems = Map<string, Promise<readonly string[]>>

export async function expectToComeThrough(
  conversation: Conversation,
  target: Adapter,
  how: ForeignTarget,
  known: ReadItems = new Map(),
): Promise<void> {
  const { sessionId, files: written, losses } = foreignFiles(target, conversation, how)
  const files = written.map(held)
  const key = `${target.id} ${sessionId} ${Bun.hash(JSON.stringify(files))}`
  const items =
    known.get(key) ??
    readBack(target, files, sessionId).then((back) => transcriptItems(back, target.vocabulary, "keep"))
  known.set(key, items)
  for (const { kind } of losses) expect(Object.keys(LOSSES)).toContain(kind)
  const want = transcriptItems(conversation, target.vocabulary, how.reasoning)
  const have = await items
  // What the neutral turns leave out already is missing on both sides.
  const own = losses.length - turnsOf(conversation, target.vocabulary, how.reasoning).losses.length
  expect(unexplained(want, have, own)).toEqual([])
}

/** The file with its lines or rows in hand. */
function held(file: OutputFile): OutputFile {
  if (file.form === "log") return { ...file, lines: [...file.lines] }
  return file.form === "database" ? { ...file, rows: [...file.rows] } : file
}

/** What the target's own source finds in what was written, as the conversation that it would send. */
async function readBack(target: Adapter, files: readonly OutputFile[], sessionId: string): Promise<Conversation> {
  const root = mkdtempSync(join(tmpdir(), "pond-foreign-"))
  try {
    for (const file of files) {
      const path = join(root, file.relativePath)
      mkdirSync(dirname(path), { recursive: true })
      if (file.form === "database") writeForeignRows(path, file)
      else writeFileSync(path, fileBytes(file))
    }
    return conversationOf(target, await logsOf(target, root), sessionId)
  } finally {
    rmSync(root, { recursive: true })
  }
}

/** What is missing or new beyond what the target's own losses say. A loss may put one piece in the place of another. */
function unexplained(want: readonly string[], have: readonly string[], losses: number): string[] {
  const common = commonItems(want, have)
  const missing = want.filter((_, index) => !common.want.has(index)).map((item) => `missing: ${item.slice(0, 120)}`)
  const added = have.filter((_, index) => !common.have.has(index)).map((item) => `added: ${item.slice(0, 120)}`)
  return missing.length <= losses && added.length <= missing.length ? [] : [...missing, ...added]
}

/** The longest sequence that both have in this order. */
function commonItems(want: readonly string[], have: readonly string[]): { want: Set<number>; have: Set<number> } {
  const lengths = Array.from({ length: want.length + 1 }, () => new Uint32Array(have.length + 1))
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0
  for (let i = want.length - 1; i >= 0; i--)
    for (let j = have.length - 1; j >= 0; j--)
      (lengths[i] as Uint32Array)[j] = want[i] === have[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const found = { want: new Set<number>(), have: new Set<number>() }
  for (let i = 0, j = 0; i < want.length && j < have.length; ) {
    if (want[i] === have[j]) {
      found.want.add(i++)
      found.have.add(j++)
    } else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return found
}
