/** What goes into an archive comes out of it, and nothing of an archive that is not whole gets into a store. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ExportReport } from "../../src/archive/export.ts"
import { importArchive } from "../../src/archive/import.ts"
import { sha256Of } from "../../src/platform/sha256.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { BLOBS } from "../../src/sessions/tables.ts"
import { batchOfRows, packBatches, rowsOfBatch, unpackBatches } from "../../src/substrate/columns/row-batch.ts"
import type { TableDefinition } from "../../src/substrate/table-definition.ts"
import { said, session } from "../sessions/support.ts"
import {
  bytesOf,
  EMBEDDINGS,
  entriesOf,
  exported,
  fill,
  imported,
  type LooseEntry,
  logsOf,
  type Place,
  packed,
  place,
  rewritten,
  stoppedAt,
  work,
} from "./support.ts"

let here: Place
let source: Sessions
let archive: string
let report: ExportReport

beforeAll(async () => {
  here = place()
  source = here.open("source")
  await fill(source, here.file("state"))
  archive = here.file("all.pond")
  report = await exported(source, archive)
})
afterAll(() => here[Symbol.dispose]())

describe("an archive of a whole store", () => {
  test("has its rows, its size and its checksum as reported", async () => {
    const counts = await source.counts()
    expect(report).toMatchObject({ ...counts, embeddings: 10, path: archive })
    expect(report.sessions).toBeGreaterThan(10)
    expect(report.blobs).toBeGreaterThan(1)
    expect(report.bytes).toBe(statSync(archive).size)
    expect(report.sha256).toBe(sha256Of(bytesOf(archive)))
    expect(readdirSync(here.path).filter((name) => name.startsWith(".pond-draft-"))).toEqual([])
  })

  test("gives an empty store every session, value for value, and the vectors", async () => {
    const target = here.open("target")
    const { present } = await imported(target, archive)
    expect(present).toEqual({ sessions: 0, messages: 0, parts: 0, embeddings: 0, blobs: 0 })
    expect(await logsOf(target)).toEqual(await logsOf(source))
    const vectors = (sessions: Sessions) =>
      sessions.store.table(EMBEDDINGS).read({ columns: ["message_id", "vector"], orderBy: [{ column: "message_id" }] })
    expect(await vectors(target)).toEqual(await vectors(source))
  })

  test("adds nothing to a store that has it", async () => {
    const target = here.open("twice")
    const once = await imported(target, archive)
    const before = await target.counts()
    const { inserted, present } = await imported(target, archive)
    expect(inserted).toEqual({ sessions: 0, messages: 0, parts: 0, embeddings: 0, blobs: 0 })
    expect(present).toEqual(once.inserted)
    expect(await target.counts()).toEqual(before)
  })

  test.skipIf(Bun.which("tar") === null)("is the same tar that any tar lists", async () => {
    const listing = Bun.spawnSync(["tar", "tf", archive]).stdout.toString().trim().split("\n")
    expect(listing).toEqual((await entriesOf(archive)).map(({ name }) => name))
    expect(listing.slice(-2)).toEqual(["manifest.json", "manifest.sha256"])
  })

  test("is never written over, and replaces a file only when told to", async () => {
    await expect(exported(source, archive)).rejects.toMatchObject({ code: "would_overwrite" })
  })

  test("does not hold rows of a session that never became visible", async () => {
    const store = here.open("half")
    await store.write([{ session: session("whole"), entries: [said("whole", 0, "kept")] }])
    const [row] = await store.tables.messages.read({
      columns: ["id", "ordinal", "role", "source_agent", "project", "timestamp", "lane", "content", "search_text"],
    })
    const rest = { search_terms: null, options: "{}", ingested_at: 0n, host: "test" }
    if (row === undefined) throw new Error("nothing was written")
    await store.tables.messages.insertAbsent([{ ...row, ...rest, session_id: "half" }])
    expect(await exported(store, here.file("half.pond"))).toMatchObject({ sessions: 1, messages: 1 })
  })
})

describe("a choice of sessions", () => {
  test("takes what belongs to them with them, and nothing else", async () => {
    const logs = await logsOf(source)
    const child = logs.find(({ session: each }) => each.parent_session_id !== undefined)?.session
    if (child?.parent_session_id === undefined) throw new Error("no fixture has an agent")
    const path = here.file("one.pond")
    const { sessions: count } = await exported(source, path, { ids: [child.parent_session_id] })
    const target = here.open("one")
    await imported(target, path)
    const family = await logsOf(target)
    const ids = family.map(({ session: each }) => each.id)
    expect(ids).toContain(child.id)
    expect(ids).toContain(child.parent_session_id)
    expect(count).toBe(ids.length)
    expect(family).toEqual(logs.filter(({ session: each }) => ids.includes(each.id)))
    expect(ids.length).toBeLessThan(logs.length)
  })

  test("by client has the bytes that its sessions name, and no others", async () => {
    const path = here.file("pi.pond")
    await exported(source, path, { agent: "claude-code" })
    const target = here.open("pi")
    await imported(target, path)
    const logs = await logsOf(target)
    expect(new Set(logs.map(({ session: each }) => each.source_agent.split("/")[0]))).toEqual(new Set(["claude-code"]))
    const { blobs } = await target.counts()
    expect(blobs).toBeGreaterThan(0)
    expect(blobs).toBeLessThan((await source.counts()).blobs)
  })

  test("by days has the sessions that were spoken in then", async () => {
    const all = (await logsOf(source)).flatMap(({ entries }) => entries.map(({ message }) => message.timestamp)).sort()
    const last = BigInt(Date.parse(all.at(-1) ?? "")) * 1000n
    const { sessions: count } = await exported(source, here.file("late.pond"), { fromMicros: last })
    expect(count).toBeGreaterThan(0)
    expect(count).toBeLessThan(report.sessions)
  })

  test("that matches nothing writes nothing", async () => {
    await expect(exported(source, here.file("none.pond"), { project: "no such" })).rejects.toMatchObject({
      code: "not_found",
    })
    expect(existsSync(here.file("none.pond"))).toBe(false)
  })
})

/** Asked of a store that was never written to: not even a table may come into being. */
async function refusal(path: string): Promise<unknown> {
  const target = here.open(`refusing-${Bun.hash(path).toString(36)}`)
  const thrown = await imported(target, path).catch((error: unknown) => error)
  expect(await target.store.names()).toEqual([])
  expect(existsSync(target.store.location.uri)).toBe(false)
  return thrown
}

describe("nothing is stored of an archive", () => {
  test("with any byte changed", async () => {
    const whole = bytesOf(archive)
    const step = Math.max(1, Math.floor(whole.length / 60))
    const path = here.file("changed.pond")
    for (let at = 0; at < whole.length; at += step) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 0x41
      writeFileSync(path, changed)
      expect({ at, thrown: await refusal(path) }).toMatchObject({ at, thrown: { code: "validation_failed" } })
    }
  })

  test("that was cut off, or that something was added to", async () => {
    const whole = bytesOf(archive)
    const path = here.file("cut.pond")
    const cuts = [0, 1, 511, 512, 513, whole.length >> 1, whole.length - 1024, whole.length - 512, whole.length - 1]
    for (const content of [...cuts.map((at) => whole.subarray(0, at)), Buffer.concat([whole, Buffer.alloc(1)])]) {
      writeFileSync(path, content)
      expect({ bytes: content.length, thrown: await refusal(path) }).toMatchObject({
        thrown: { code: "validation_failed" },
      })
    }
  })

  test.each([
    ["a path out of the target", "../../escaped"],
    ["an absolute path", "/tmp/escaped"],
    ["a table that pond does not have", "secrets/000000.arrow.zst"],
    ["a name twice", "sessions/000000.arrow.zst"],
  ])("with an entry of %s", async (_, name) => {
    const entries = await entriesOf(archive)
    const path = await packed([{ name, content: new Uint8Array(3) }, ...entries], here.file("named.pond"))
    expect(await refusal(path)).toMatchObject({ code: "validation_failed" })
    expect(existsSync(join(here.path, "..", "escaped"))).toBe(false)
  })

  test.skipIf(Bun.which("tar") === null)("with a link in it, or a directory", async () => {
    const folder = here.file("links")
    mkdirSync(folder)
    symlinkSync("/etc/passwd", join(folder, "sessions"))
    const path = here.file("links.pond")
    Bun.spawnSync(["tar", "cf", path, "-C", folder, "."])
    expect(await refusal(path)).toMatchObject({ code: "validation_failed" })
  })

  test("whose entry claims a size beyond all bounds", async () => {
    const whole = Buffer.from(bytesOf(archive))
    whole.write("77777777777", 124, "ascii")
    const path = here.file("huge.pond")
    writeFileSync(path, whole)
    expect(await refusal(path)).toMatchObject({ code: "validation_failed" })
  })

  test("whose few bytes would become more than they claim", async () => {
    const bomb = Bun.zstdCompressSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 })
    const path = await rewritten(archive, here.file("bomb.pond"), (entries) => {
      first(entries, "messages").content = bomb
    })
    expect(await refusal(path)).toMatchObject({
      code: "validation_failed",
      message: expect.stringMatching(/does not decompress to its declared size/),
    })
  })

  test("with something behind what was compressed", async () => {
    const path = await rewritten(archive, here.file("frames.pond"), (entries) => {
      const entry = first(entries, "messages")
      entry.content = Buffer.concat([entry.content, Bun.zstdCompressSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 })])
    })
    expect(await refusal(path)).toMatchObject({
      code: "validation_failed",
      message: expect.stringMatching(/does not decompress to its declared size/),
    })
  })

  test("with columns that are none of pond's", async () => {
    const path = await rewritten(archive, here.file("columns.pond"), (entries, manifest) => {
      const raw = Bun.zstdDecompressSync(first(entries, "blobs").content)
      first(entries, "messages").content = Bun.zstdCompressSync(raw)
      const listed = manifest.entries.find(({ name }) => name.startsWith("messages/"))
      if (listed !== undefined) listed.raw_bytes = raw.length
    })
    expect(await refusal(path)).toMatchObject({
      code: "validation_failed",
      message: expect.stringMatching(/its columns are not those of/),
    })
  })

  test.each([
    ["bytes under a checksum that is not theirs", BLOBS, { bytes: new Uint8Array([1]), size: 1n }, /differs/],
    ["a value that cannot be read", undefined, { options: '{"half":' }, /cannot be read/],
    ["a session that is not in it", undefined, { session_id: "someone else's" }, /is not in it/],
    [
      "a session of another project than its own",
      undefined,
      { project: "/elsewhere" },
      /from another client or project/,
    ],
    ["a role that nobody has", undefined, { role: "emperor" }, /cannot be read/],
  ] as const)("with %s, under right checksums", async (_, table, values, message) => {
    const definition = (table ?? source.tables.messages.definition) as unknown as TableDefinition
    const path = await rewritten(archive, here.file("poisoned.pond"), (entries, manifest) => {
      const entry = first(entries, definition.name)
      const read = unpackBatches(definition, Bun.zstdDecompressSync(entry.content))
      if (!read.ok) throw new Error(read.reason)
      const rows = read.batches.flatMap((batch) => rowsOfBatch(batch))
      const raw = packBatches(definition, [batchOfRows(definition, [{ ...rows[0], ...values }, ...rows.slice(1)])])
      entry.content = Bun.zstdCompressSync(raw)
      const listed = manifest.entries.find(({ name }) => name === entry.name)
      if (listed !== undefined) listed.raw_bytes = raw.length
    })
    expect(await refusal(path)).toMatchObject({ code: "validation_failed", message: expect.stringMatching(message) })
  })

  test("that lacks bytes which a session names", async () => {
    const path = await rewritten(archive, here.file("lacking.pond"), (entries, manifest) => {
      const kept = entries.filter(({ name }) => !name.startsWith("blobs/"))
      entries.splice(0, entries.length, ...kept)
      manifest.tables = manifest.tables.filter(({ name }) => name !== "blobs")
      manifest.entries = manifest.entries.filter(({ name }) => !name.startsWith("blobs/"))
    })
    expect(await refusal(path)).toMatchObject({
      code: "validation_failed",
      message: expect.stringMatching(/it lacks the bytes/),
    })
  })

  test("of a newer pond, which says to update", async () => {
    const path = await rewritten(archive, here.file("newer.pond"), (_, manifest) => {
      for (const table of manifest.tables) table.schema_version += 1
    })
    expect(await refusal(path)).toMatchObject({
      code: "version_unsupported",
      message: expect.stringMatching(/Update pond/),
    })
  })
})

test("a session that the store has from another project is left out, and said", async () => {
  const target = here.open("stranger")
  const [log] = await logsOf(source)
  if (log === undefined) throw new Error("the source is empty")
  await target.write([{ session: { ...log.session, project: "/another" }, entries: [] }])
  const { refused, inserted } = await imported(target, archive)
  expect(refused).toEqual([log.session.id])
  expect(inserted.sessions).toBe(report.sessions - 1)
  expect(await target.entries(log.session.id)).toEqual([])
})

test("a rehearsal says what is new, and stores nothing", async () => {
  const target = here.open("rehearsed")
  const { inserted } = await importArchive(target, { path: archive, isDryRun: true }, work)
  expect(inserted).toMatchObject(await source.counts())
  expect(await target.store.names()).toEqual([])
})

test("an import into an empty store that was stopped leaves nothing behind", async () => {
  const target = here.open("stopped at once")
  const stopped = importArchive(target, { path: archive, isDryRun: false }, stoppedAt(1))
  await expect(stopped).rejects.toMatchObject({ code: "interrupted" })
  expect(existsSync(target.store.location.uri)).toBe(false)
  await imported(target, archive)
  expect(await logsOf(target)).toEqual(await logsOf(source))
})

test("what an import that died had written is not seen, and goes when the next one begins", async () => {
  const target = here.open("died")
  const left = await target.store.openStaging()
  await left?.store.table(BLOBS).insertAbsent([{ sha256: "left", size: 1n, bytes: new Uint8Array(1) }])
  expect(await target.store.names()).toEqual([])
  left?.store.close()
  const second = here.open("died")
  expect(await second.store.openStaging()).toBeUndefined()
  expect(await imported(second, archive)).toMatchObject({ inserted: await source.counts() })
  await left?.end()
  expect(await logsOf(second)).toEqual(await logsOf(source))
})

test.each(["a sync", "another import"])("what an import that died had written goes with %s too", async (how) => {
  const target = here.open(`died before ${how}`)
  const left = await target.store.openStaging()
  await left?.store.table(BLOBS).insertAbsent([{ sha256: "left", size: 1n, bytes: new Uint8Array(1) }])
  left?.store.close()
  const folder = join(target.store.location.uri, ".pond/incoming")
  await target.write([{ session: session("own"), entries: [said("own", 0, "here before")] }])
  const other = here.open(`died before ${how}`)
  await other.maintain("all")
  // Whoever is still at it keeps what is his; of one that died the lock is free.
  expect(existsSync(folder)).toBe(true)
  renameSync(folder, `${folder}.kept`)
  await left?.end()
  renameSync(`${folder}.kept`, folder)
  if (how === "a sync") await other.maintain("due")
  else await imported(other, archive)
  expect(existsSync(folder)).toBe(false)
})

test("an import that was stopped goes on where it was, and is whole at the end", async () => {
  const target = here.open("stopped")
  await target.write([{ session: session("own"), entries: [said("own", 0, "here before")] }])
  const stopped = importArchive(target, { path: archive, isDryRun: false }, stoppedAt(4))
  await expect(stopped).rejects.toMatchObject({ code: "interrupted" })
  expect(await target.counts()).toMatchObject({ sessions: 1 })
  await imported(target, archive)
  const taken = (await logsOf(target)).filter(({ session: { id } }) => id !== "own")
  expect(taken).toEqual(await logsOf(source))
})

function first(entries: LooseEntry[], table: string): LooseEntry {
  const found = entries.find(({ name }) => name.startsWith(`${table}/`))
  if (found === undefined) throw new Error(`the archive has no ${table}`)
  return found
}
