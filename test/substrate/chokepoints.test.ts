import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { eq } from "../../src/substrate/filter.ts"
import { openCatalog } from "../../src/substrate/lance/catalog.ts"
import { engine } from "../../src/substrate/lance/engine.ts"
import { EVERY_KIND, row, testContext, testStore } from "./support.ts"

/** `lance-chokepoints`: each kind of call into the engine stands in the files that own it, and nowhere else in the tree. */
const SOURCES = readdirSync(join(import.meta.dir, "../../src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name, text: codeOf(readFileSync(join(import.meta.dir, "../../src", name), "utf8")) }))

/** Without comments: a rule is about what runs. */
function codeOf(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
}

const CALLS: readonly (readonly [what: string, call: RegExp, owners: readonly string[]])[] = [
  ["the engine is loaded", /require\("(?:@lancedb\/lancedb|apache-arrow)"\)/, ["substrate/lance/engine.ts"]],
  ["catalog: connecting", /\blance\.connect\(/, ["substrate/lance/catalog.ts"]],
  [
    "catalog: opening, making and dropping tables",
    /\.(?:openTable|createEmptyTable|dropTable|tableNames)\(/,
    ["substrate/lance/catalog.ts"],
  ],
  [
    "read: scans, counts, searches and blobs",
    /\.(?:countRows|fetchBlobs|nearestTo|analyzePlan|takeRowIds|vectorSearch)\(|\btable\s*\.query\(/,
    ["substrate/lance/read.ts", "substrate/lance/rewrite.ts", "substrate/lance/row-numbers.ts"],
  ],
  [
    "write: rows in, rows out",
    /\.mergeInsert\(|\b(?:table|dataset|made|open|inner)\.(?:add|delete)\(/,
    ["substrate/lance/rewrite.ts", "substrate/lance/write.ts"],
  ],
  [
    "write: rows are written anew as they are",
    /\.update\(\{ where: stays, valuesSql: unchanged\(/,
    ["substrate/lance/rewrite.ts"],
  ],
  ["maintenance", /\.(?:optimize|dropIndex)\(\s*(?:\{\s*cleanup|\)|planned)/, ["substrate/maintain/maintain.ts"]],
  ["going back to an older version", /\.(?:restore|checkout)\(/, ["substrate/maintain/take-back.ts"]],
  ["building an index", /\.createIndex\(/, ["substrate/maintain/indexes.ts"]],
  [
    "looking at a table again",
    /\.checkoutLatest\(/,
    [
      "substrate/lance/bucket-part.ts",
      "substrate/lance/open-dataset.ts",
      "substrate/lance/write.ts",
      "substrate/maintain/maintain.ts",
      "substrate/maintain/take-back.ts",
    ],
  ],
  [
    "a filter in the engine's language",
    /\.where\(/,
    ["substrate/lance/read.ts", "substrate/lance/rewrite.ts", "substrate/lance/row-numbers.ts"],
  ],
  ["the engine's errors are read", /\.message\b.*(?:test|match|includes)|PROSE/, ["substrate/lance/lance-errors.ts"]],
]

test.each(CALLS)("%s: where it is owned, and nowhere else", (_, call, owners) => {
  const files = SOURCES.filter(({ name }) => name.startsWith("substrate/") || owners[0] === "substrate/lance/engine.ts")
  const found = files.filter(({ text }) => call.test(text)).map(({ name }) => name)
  expect(found.toSorted()).toEqual(owners.toSorted())
})

test("the engine's tables are held by the substrate's own files alone, and named in what they hand to consumers by none", () => {
  const holders = SOURCES.filter(({ text }) => /from "@lancedb\/lancedb"/.test(text)).map(({ name }) => name)
  expect(holders.filter((name) => !name.startsWith("substrate/"))).toEqual([])
  for (const name of ["table", "table-definition", "filter", "location", "namespaces", "storage-check"]) {
    expect(holders).not.toContain(`substrate/${name}.ts`)
  }
})

test("what would go around a rule is not called at all", () => {
  const around =
    /\.(?:postfilter|fastSearch|fullTextSearch|dropAllTables|addColumns|alterColumns|setLsmWriteSpec)\(|\btable\.update\((?!\{ where: stays, valuesSql: unchanged\()|mode: "overwrite"|useIndex\(true|deleteUnverified/
  expect(
    SOURCES.filter(({ name, text }) => name.startsWith("substrate/") && around.test(text)).map(({ name }) => name),
  ).toEqual([])
})

test("storage: only what the engine leaves undone on a local disk, what is kept of buckets, and a file of credentials", () => {
  const touching = SOURCES.filter(({ name, text }) => name.startsWith("substrate/") && /from "node:fs/.test(text))
  expect(touching.map(({ name }) => name).toSorted()).toEqual([
    "substrate/bucket/block-store.ts",
    "substrate/bucket/google-client.ts",
    "substrate/local/check.ts",
    "substrate/local/disk-files.ts",
    "substrate/local/readable-part.ts",
    "substrate/local/staging.ts",
    "substrate/self-test.ts",
  ])
})

test("no file of the substrate knows of sessions", () => {
  const telling = SOURCES.filter(
    ({ name, text }) => name.startsWith("substrate/") && /session_id|message_id|transcript/i.test(text),
  )
  expect(telling.map(({ name }) => name)).toEqual([])
})

test("importing the substrate loads nothing native", async () => {
  const script = `
    await import(${JSON.stringify(join(import.meta.dir, "../../src/substrate/open-store.ts"))})
    await import(${JSON.stringify(join(import.meta.dir, "../../src/substrate/namespaces.ts"))})
    await import(${JSON.stringify(join(import.meta.dir, "../../src/substrate/storage-check.ts"))})
    const maps = await Bun.file("/proc/self/maps").text().catch(() => "")
    console.log(Object.keys(require.cache).filter((name) => /lancedb|apache-arrow/.test(name)).length, /lancedb/.test(maps))`
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" })
  expect((await new Response(child.stdout).text()).trim()).toBe("0 false")
})

// --- The same, seen in what the engine does ---------------------------------------------------------------------------

test("a filter narrows before the ranking: a search finds its rows however many others rank higher", async () => {
  using place = testStore()
  const table = place.store.table(EVERY_KIND)
  const nearer = Array.from({ length: 300 }, (_, number) =>
    row(`near-${number}`, { near: Float32Array.of(1, 0, 0, 0) }),
  )
  const far = row("far", { near: Float32Array.of(0, 1, 0, 0) })
  await table.insertAbsent([...nearer, far])
  const request = { columns: ["id"] as const, where: eq("id", "far"), limit: 1 }
  const near = { column: "near", vector: Float32Array.of(1, 0, 0, 0), distance: "l2" } as const
  expect((await table.searchVector(near, request)).map(({ id }) => id)).toEqual(["far"])
  await table.maintain("all")
  expect((await table.searchVector(near, request)).map(({ id }) => id)).toEqual(["far"])
  expect(await table.explain({ ...request, vector: near })).toMatch(/KNN[\s\S]*full_filter=id = Utf8\("far"\)/)
})

test("rows that no index has yet are found by every kind of read", async () => {
  using place = testStore()
  const table = place.store.table(EVERY_KIND)
  await table.insertAbsent(
    Array.from({ length: 1200 }, (_, number) =>
      row(`old-${number}`, { text: "old", near: Float32Array.of(1, 0, 0, 0) }),
    ),
  )
  await table.maintain("all")
  expect((await table.statistics())?.indexes.find(({ name }) => name === "id_btree")?.unindexedRows).toBe(0)
  await table.insertAbsent([row("fresh", { text: "fresh", near: Float32Array.of(0, 1, 0, 0) })])
  expect((await table.statistics())?.indexes.find(({ name }) => name === "id_btree")?.unindexedRows).toBe(1)
  const request = { columns: ["id"] as const, limit: 1 }
  expect(await table.read({ ...request, where: eq("id", "fresh") })).toEqual([{ id: "fresh" }])
  const near = { column: "near", vector: Float32Array.of(0, 1, 0, 0), distance: "cosine" } as const
  expect((await table.searchVector(near, request)).map(({ id }) => id)).toEqual(["fresh"])
  expect(await table.takeByKey([{ group_id: "g", id: "fresh" }], ["id"])).toEqual([{ id: "fresh" }])
})

test("every table of a store shares the caches of its session, and their bound", async () => {
  using place = testStore()
  const session = new (engine().lance.Session)(1_000_000n, 1_000_000n)
  const caches = {
    session: () => session,
    useSmallCaches: () => undefined,
    gateway: () => undefined,
    close: () => undefined,
  }
  const catalog = openCatalog(place.store.location, testContext, caches)
  await place.store.table(EVERY_KIND).insertAbsent([row("a")])
  const before = session.approxNumItems()
  const table = await catalog.open(EVERY_KIND as never)
  await table?.countRows("id = 'a'")
  expect(session.approxNumItems()).toBeGreaterThan(before)
})

test("a store that keeps little says the same as any other, and so do the stores inside it", async () => {
  using place = testStore()
  const little = place.open()
  little.useSmallCaches()
  for (const store of [little, little.at("inside")]) {
    await store.table(EVERY_KIND).insertAbsent([row("a"), row("b")])
    await store.table(EVERY_KIND).maintain("all")
    expect(await store.table(EVERY_KIND).read({ columns: ["id"], where: eq("id", "b") })).toEqual([{ id: "b" }])
  }
  expect(await place.store.table(EVERY_KIND).count()).toBe(2)
})

test("the key of a table is declared in its schema, which makes two writers of one key conflict on a bucket", async () => {
  using place = testStore()
  await place.store.table(EVERY_KIND).insertAbsent([row("a")])
  const connection = await engine().lance.connect(place.path)
  const { fields } = await (await connection.openTable(EVERY_KIND.name)).schema()
  const position = (name: string) => {
    const metadata = fields.find((field) => field.name === name)?.metadata
    expect(metadata?.get("lance-schema:unenforced-primary-key")).toBe("true")
    return metadata?.get("lance-schema:unenforced-primary-key:position")
  }
  expect(EVERY_KIND.key.map(position)).toEqual(["1", "2"])
  const marked = fields.filter(({ metadata }) => metadata.has("lance-schema:unenforced-primary-key"))
  expect(marked).toHaveLength(EVERY_KIND.key.length)
})
