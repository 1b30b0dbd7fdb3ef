/** A large archive is validated in a separate thread, and a small one here: both are judged the same. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { openArchive } from "../../src/archive/file/open-archive.ts"
import { validateEntries } from "../../src/archive/validate/validate-entries.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import type { MessageRow } from "../../src/sessions/tables.ts"
import {
  batchBytes,
  batchOfRows,
  packBatches,
  rowsOfBatch,
  unpackBatches,
} from "../../src/substrate/columns/row-batch.ts"
import type { TableDefinition } from "../../src/substrate/table-definition.ts"
import { said, session } from "../sessions/support.ts"
import { exported, imported, type Place, place, rewritten } from "./support.ts"

const MESSAGES = 48
let here: Place
let source: Sessions
let archive: string

beforeAll(async () => {
  here = place()
  source = here.open("source")
  const ids = Array.from({ length: MESSAGES }, (_, at) => at)
  await source.write([{ session: session("long"), entries: ids.map((at) => said("long", at, `what was said ${at}`)) }])
  const [row] = await source.tables.messages.read({
    columns: ["session_id", "role", "source_agent", "project", "timestamp", "lane", "host", "ingested_at"],
    limit: 1,
  })
  if (row === undefined) throw new Error("nothing was written")
  const text = "a long text, which is said again and again. ".repeat(20_000)
  const rows: MessageRow[] = ids.map((at) => ({
    ...row,
    id: `large ${at}`,
    ordinal: MESSAGES + at,
    content: null,
    search_text: text,
    search_terms: null,
    options: "{}",
  }))
  await source.tables.messages.insertAbsent(rows)
  archive = here.file("large.pond")
  await exported(source, archive)
})
afterAll(() => here[Symbol.dispose]())

test("it is read in a thread, which hashes the keys as the store would", async () => {
  const opened = await openArchive(archive)
  expect(opened.entries.reduce((sum, entry) => sum + entry.raw_bytes, 0)).toBeGreaterThan(32_000_000)
  let rows = 0
  for await (const { batches } of validateEntries(opened.entries, opened.content)) {
    for (const batch of batches) {
      expect(batch.keyHashes?.length).toBe(2 * batch.length)
      rows += batch.length
    }
    for (const batch of batches) {
      expect(batchBytes(batch)).toBeGreaterThan(0)
      batch.letGo?.()
    }
    for (const batch of batches) expect(batchBytes(batch)).toBe(0)
  }
  await opened.close()
  expect(rows).toBeGreaterThan(2 * MESSAGES)
})

test("an empty store gets every row of it, and a second import adds none", async () => {
  const target = here.open("target")
  const { inserted } = await imported(target, archive)
  expect(inserted).toMatchObject(await source.counts())
  expect(inserted.messages).toBe(2 * MESSAGES)
  expect(await imported(target, archive)).toMatchObject({ inserted: { messages: 0, parts: 0, sessions: 0 } })
  expect(await target.counts()).toEqual(await source.counts())
})

/** Changes the last rows of the archive, behind all that is large. */
async function withLastRows(name: string, change: (rows: readonly MessageRow[]) => readonly MessageRow[]) {
  const definition = source.tables.messages.definition as unknown as TableDefinition
  return await rewritten(archive, here.file(name), (entries, manifest) => {
    const entry = entries.findLast((each) => each.name.startsWith("messages/"))
    const listed = manifest.entries.find((each) => each.name === entry?.name)
    if (entry === undefined || listed === undefined) throw new Error("the archive has no messages")
    const read = unpackBatches(definition, Bun.zstdDecompressSync(entry.content))
    if (!read.ok) throw new Error(read.reason)
    const rows = read.batches.flatMap((batch) => rowsOfBatch(batch)) as unknown as readonly MessageRow[]
    const raw = packBatches(definition, [batchOfRows(definition, change(rows))])
    entry.content = Bun.zstdCompressSync(raw)
    listed.raw_bytes = raw.length
  })
}

test("a fault in its last row refuses all of it, and leaves nothing behind", async () => {
  const path = await withLastRows("poisoned.pond", (rows) =>
    rows.map((row, at) => (at === rows.length - 1 ? { ...row, options: '{"half":' } : row)),
  )
  const target = here.open("refusing")
  await expect(imported(target, path)).rejects.toMatchObject({
    code: "validation_failed",
    message: expect.stringMatching(/cannot be read\. Nothing was imported/),
  })
  expect(existsSync(target.store.location.uri)).toBe(false)
})

test("a key that stands in it twice is stored once, the first of both", async () => {
  const path = await withLastRows("twice.pond", (rows) =>
    rows.map((row, at) => (at === rows.length - 1 ? { ...row, id: "large 0", ordinal: 999 } : row)),
  )
  const target = here.open("twice")
  const { inserted, present } = await imported(target, path)
  expect([inserted.messages, present.messages]).toEqual([2 * MESSAGES - 1, 1])
  const [kept] = await target.tables.messages.takeByKey([{ session_id: "long", id: "large 0" }] as never, ["ordinal"])
  expect(kept?.ordinal).toBe(MESSAGES)
})
